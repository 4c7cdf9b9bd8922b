/** Creating a campaign: on a file of items, or for items that arrive over time. */

import { count, several, text } from '../lib/format.js';
import { html, useRef, useState } from '../lib/html.js';
import { ColumnTable } from '../parts/column_table.js';
import { FeedChoice } from '../parts/feed_choice.js';
import { Field, Input, Lines } from '../parts/fields.js';
import { Failure, Loading, useLoaded } from '../parts/loading.js';
import { blankPool, PoolFields, poolOf } from '../parts/pool_fields.js';
import { blankStream, hasTooFewModels, refuseMissing, StreamFields, streamOf } from '../parts/stream_fields.js';
import { api } from '../state/api.js';
import { createPool, FORMATS, upload, usePredictionFile } from '../state/prediction_file.js';
import { go, home, inCampaign, useView } from '../state/router.js';

const NAMED = 6;
const MOST_SHORTCUTS = 20; // so few answers may be classes in a small file too
const LONGEST_GUIDELINES = 10_000;
const LONGEST_ENCODED = 30_000; // they are part of the address when a file is sent
/** @type {[Kind, string, string][]} */
const KINDS = [
  ['pool', 'A file of items (recommended)',
    'All items are there. You are asked about the item most worth a label, until the best model is proven.'],
  ['stream', 'Items arrive over time',
    'Files or programs bring items. Whether an item needs a label is decided when it arrives.'],
];

/**
 * @typedef {'pool'|'stream'} Kind
 * @typedef {import('../state/prediction_file.js').PredictionFile} PredictionFile
 */

export function CreateView() {
  useView('New campaign', 'new');
  const { value, error, again } = useLoaded(() => Promise.all([api.settings(), api.campaigns()]), []);
  return html`<section class="card form">
    <h1 tabindex="-1">New campaign</h1>
    ${value ? html`<${CreateForm} known=${value[0]} campaigns=${value[1]} />`
      : error?.temporary === false ? html`<${Failure} error=${error} again=${again} />`
      : html`<${Loading} what="the form" error=${error} />`}
  </section>`;
}

/** @param {{known: Api.SettingsDocument, campaigns: Api.Summary[]}} props */
function CreateForm({ known, campaigns }) {
  const [kind, setKind] = useState(/** @type {Kind} */ ('pool'));
  const [name, setName] = useState('');
  const suggested = useRef(''); // a name of an earlier file goes with that file; a name that was typed stays
  const [guidelines, setGuidelines] = useState('');
  const [pool, setPool] = useState(blankPool);
  const [stream, setStream] = useState(blankStream(known));
  const [atOnce, setAtOnce] = useState(false);
  const source = usePredictionFile();
  const { file, seen } = source;
  const [busy, setBusy] = useState('');
  const [made, setMade] = useState(''); // what was created already, as it was asked for
  const [error, setError] = useState(/** @type {Error|null} */ (null));

  const choose = async (/** @type {File|null} */ chosen) => {
    setError(null);
    const found = await source.choose(chosen);
    // Before the form is drawn again: whoever sees the button ready sees the name too.
    if (!chosen || !found) return;
    const fresh = freeName(chosen.name, known.longest_name, campaigns);
    const earlier = suggested.current;
    setName((before) => (!before || before === earlier ? fresh : before));
    suggested.current = fresh;
  };
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy('Creating …');
    setError(null);
    await create(name.trim()).catch(setError);
    setBusy('');
  };
  const create = async (/** @type {string} */ called) => {
    const told = guidelines.trim() ? { guidelines: guidelines.trim() } : {};
    const asked = { ...(kind === 'pool' ? poolOf(pool, source) : streamOf(called, stream, known, seen)), ...told };
    if (kind === 'stream') refuseMissing(/** @type {Api.NewCampaign} */ (asked), seen);
    // If a later step failed, the campaign is there already when the form is sent again.
    const [before, then] = made ? JSON.parse(made) : ['', ''];
    if (before !== called) await begin(called, asked);
    else if (then !== JSON.stringify([kind, asked])) throw new Error(otherName(called));
    setMade(JSON.stringify([called, JSON.stringify([kind, asked])]));
    if (kind === 'stream' && file) await upload(called, file, source.chosen, atOnce, setBusy);
    go(inCampaign(called, file ? 'label' : 'files'));
  };
  const begin = (/** @type {string} */ called, /** @type {object} */ asked) => {
    if (kind === 'stream') return api.create(/** @type {Api.NewCampaign} */ (asked));
    if (!file) throw new Error('Choose a file first.');
    if (encodeURIComponent(guidelines).length > LONGEST_ENCODED) throw new Error(TOO_LONG);
    return createPool(called, file, source.chosen, /** @type {Record<string, string>} */ (asked), setBusy);
  };
  const read = file ? seen && !seen.problem && !source.busy && !source.error : kind === 'stream';
  const few = read && hasTooFewModels(stream, seen);
  const ready = read && !few && !source.open.length;
  return html`<form class="form" onSubmit=${submit} aria-busy=${busy !== '' || source.busy}>
    <${KindChoice} kind=${kind} set=${setKind} />
    <${FileField} source=${source} free=${kind === 'pool' && (pool.askFor !== 'class' || pool.same !== 'exact')} choose=${choose} />
    ${kind === 'stream' && !file && html`<${Lines} label="Or the names of the models, one per line" rows="4" required
      hint="At least two. Predictions come later: from a file, or from programs that ask."
      value=${stream.models} set=${(models) => setStream({ ...stream, models })} />`}
    ${kind === 'stream' && file && html`<${FeedChoice} atOnce=${atOnce} set=${setAtOnce} />`}
    <${Input} label="Name" type="text" required maxlength=${known.longest_name} value=${name} set=${setName} />
    ${kind === 'pool'
      ? html`<${PoolFields} form=${pool} source=${source} set=${(change) => setPool({ ...pool, ...change })} />`
      : html`<${StreamFields} form=${stream} known=${known} seen=${seen}
          set=${(change) => setStream((before) => ({ ...before, ...change }))} />`}
    <${Lines} label="Guidelines for annotators (optional)" rows="3" maxlength=${LONGEST_GUIDELINES} value=${guidelines}
      set=${setGuidelines} hint="They are shown beside the item, and can be changed later." />
    <p class="form-error" role="alert" dir="auto">${(error ?? source.error)?.message}</p>
    <p class="actions">
      <button class="primary" disabled=${busy !== '' || !ready}>
        ${busy || (source.busy ? 'Reading the file …' : 'Create campaign')}</button>
      <a class="button" href=${home}>Cancel</a>
      <span class="quiet-text" role="status">${whyNot(kind, source, few)}</span>
    </p>
  </form>`;
}

/** What is missing before the button works. @param {Kind} kind @param {PredictionFile} source @param {unknown} few */
function whyNot(kind, { file, open }, few) {
  if (kind === 'pool' && !file) return 'Choose a file first.';
  if (open.length) return `${count(open.length, 'column')} to look at first`;
  return few ? 'At least two models are needed.' : '';
}

/** @param {{kind: Kind, set: (kind: Kind) => void}} props */
function KindChoice({ kind, set }) {
  return html`<fieldset class="kinds">
    <legend class="sr-only">What the campaign is about</legend>
    ${KINDS.map(([value, title, hint]) => html`<label key=${value} class=${`kind${kind === value ? ' chosen' : ''}`}>
      <input type="radio" name="kind" checked=${kind === value} onChange=${() => set(value)}
        aria-describedby=${`kind-${value}`} />
      <span><strong>${title}</strong></span>
      <span class="quiet-text" id=${`kind-${value}`}>${hint}</span>
    </label>`)}
  </fieldset>`;
}

const FILE_HINT = 'Choose a file, or drop it here. CSV, TSV, Excel, Parquet, NumPy (.npz) or JSON: one row per item, one column per model. '
  + 'Other columns can be shown with the item. Or results of an evaluation tool; pack a folder into a .zip file.';

/** Where a file is chosen, or dropped. @param {{source: PredictionFile, free: boolean, choose: (file: File|null) => void}} props */
function FileField({ source, free, choose }) {
  const { seen } = source;
  const [over, setOver] = useState(false);
  /** @type {{current: HTMLInputElement}} */
  const box = useRef(null);
  const chosen = (/** @type {EventOn<HTMLInputElement>} */ event) => choose(event.currentTarget.files?.[0] ?? null);
  const dropped = (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    setOver(false);
    if (!event.dataTransfer?.files.length) return;
    box.current.files = event.dataTransfer.files; // so that the field shows its name
    choose(event.dataTransfer.files[0]);
  };
  const dragged = (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    setOver(true);
  };
  return html`<div class=${`drop${over ? ' over' : ''}`} onDragOver=${dragged} onDragLeave=${() => setOver(false)}
      onDrop=${dropped}>
    <${Field} label="File of predictions" hint=${FILE_HINT}>
      ${(own) => html`<input ...${own} ref=${box} type="file" accept=${FORMATS} onChange=${chosen} />`}
    <//>
  </div>
  <p class="seen" role="status">${seen && !seen.problem && !source.error && html`<${Seen} seen=${seen} free=${free} />`}</p>
  ${seen?.problem && html`<p class="form-error" dir="auto">${seen.problem}</p>`}
  <${ColumnTable} source=${source} again />`;
}

/**
 * What the file has in it. Many different answers are no classes, but free text.
 * @param {{seen: Api.FileLook, free: boolean}} props `free`: people do not choose between classes
 */
function Seen({ seen: { items, models, answers, labelled }, free }) {
  const told = free || 2 * answers > Math.max(MOST_SHORTCUTS, items) ? count(answers, 'different answer') : count(answers, 'class', 'classes');
  const sizes = [count(items, 'item'), count(models.length, 'model'), told];
  return html`<strong>${sizes.join(', ')}.</strong> Models: <bdi>${several(models.map(text), NAMED)}</bdi>.
    ${labelled && ' The file has labels. They are not used: people are asked instead.'}`;
}

/**
 * A name for a campaign of this file that the server takes, and that no other campaign has.
 * @param {string} filename @param {number} longest @param {Api.Summary[]} campaigns
 */
function freeName(filename, longest, campaigns) {
  const stem = filename.replace(/\.\w+$/, '').replace(/[^\p{L}\p{N}_.-]+/gu, ' ');
  const plain = stem.replace(/^[^\p{L}\p{N}]+/u, '').slice(0, longest - 5).trimEnd() || 'campaign';
  const taken = new Set(campaigns.map(({ name }) => name));
  if (!taken.has(plain)) return plain;
  for (let number = 2; ; number += 1) if (!taken.has(`${plain} ${number}`)) return `${plain} ${number}`;
}

/** @param {string} name */
const otherName = (name) => `“${name}” was created already, with what the form said before. `
  + 'Choose another name to create a campaign with what it says now.';
const TOO_LONG = 'The guidelines are too long to be sent with a file. Shorten them, or add them in the settings of the '
  + 'campaign later.';
