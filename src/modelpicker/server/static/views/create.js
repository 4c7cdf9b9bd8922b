/** Creating a campaign: from a file of predictions, or from the names of models. */

import { count, several, text } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { ColumnTable } from '../parts/column_table.js';
import { Field, Input, Lines, Select } from '../parts/fields.js';
import { api } from '../state/api.js';
import { FORMATS, upload, usePredictionFile } from '../state/prediction_file.js';
import { go, home, inCampaign, useView } from '../state/router.js';

/**
 * @typedef {NonNullable<Api.NewCampaign['algorithm']>} Algorithm
 * @typedef {import('../state/prediction_file.js').PredictionFile} PredictionFile
 */

/** @type {Algorithm[]} */
const ALGORITHMS = [
  'model-picker', 'race', 'label-efficient', 'vote-entropy', 'structural-committee', 'importance-weighted',
  'efficient-active',
];
const NAMED = 6;
const LONGEST_NAME = 100;

/**
 * The values of the form. Classes and expected items come from the file until somebody types others.
 * @typedef {{name: string, models: string, classes: string|null, closed: boolean, budget: string,
 *            expected: string|null, stop: string, kind: 'population'|'stream', algorithm: Algorithm,
 *            seed: string}} Form
 * @typedef {{form: Form, seen: Api.FileLook|null, set: (change: Partial<Form>) => void}} Part
 */

/** @type {Form} */
const BLANK = {
  name: '', models: '', classes: null, closed: false, budget: '', expected: null, stop: '', kind: 'population',
  algorithm: ALGORITHMS[0], seed: '0',
};

export function CreateView() {
  useView('New campaign', 'new');
  const [form, setForm] = useState(BLANK);
  const source = usePredictionFile();
  const { file, seen } = source;
  const [busy, setBusy] = useState('');
  const [made, setMade] = useState(/** @type {Api.NewCampaign|null} */ (null));
  const [error, setError] = useState(/** @type {Error|null} */ (null));
  const set = (/** @type {Partial<Form>} */ change) => setForm((before) => ({ ...before, ...change }));

  const choose = async (/** @type {File|null} */ chosen) => {
    setError(null);
    const [found, name] = await Promise.all([source.choose(chosen), chosen ? freeName(chosen.name) : '']);
    if (found) setForm((before) => ({ ...before, name: before.name || name }));
  };
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy('Creating …');
    setError(null);
    await create().catch(setError);
    setBusy('');
  };
  const create = async () => {
    const wanted = campaignOf(form, seen);
    const { name } = wanted;
    refuseMissing(wanted, seen);
    // If the file was refused before, the campaign exists already.
    if (made?.name !== name) await api.create(wanted);
    else if (JSON.stringify(made) !== JSON.stringify(wanted)) throw new Error(otherName(name));
    setMade(made?.name === name ? made : wanted);
    if (file) await upload(name, file, source.chosen, setBusy);
    go(inCampaign(name, file ? 'label' : 'files'));
  };
  const read = !file || (seen && !seen.problem && !source.busy && !source.error);
  const few = read && hasTooFewModels(form, seen);
  const ready = read && !few && !source.open.length;
  return html`<form class="card form" onSubmit=${submit} aria-busy=${busy !== '' || source.busy}>
    <h1 tabindex="-1">New campaign</h1>
    <${FileField} source=${source} choose=${choose} />
    ${!file && html`<${Lines} label="Or the names of the models, one per line" rows="4" required
      hint="At least two. Predictions come later: from a file, or from programs that ask."
      value=${form.models} set=${(models) => set({ models })} />`}
    <${Input} label="Name" type="text" required maxlength=${LONGEST_NAME} value=${form.name}
      set=${(name) => set({ name })} />
    <${Spending} form=${form} seen=${seen} set=${set} />
    <${Classes} form=${form} seen=${seen} set=${set} />
    <${More} form=${form} set=${set} />
    <p class="form-error" role="alert" dir="auto">${(error ?? source.error)?.message}</p>
    <p class="actions">
      <button class="primary" disabled=${busy !== '' || !ready}>
        ${busy || (source.busy ? 'Reading the file …' : 'Create campaign')}</button>
      <a class="button" href=${home}>Cancel</a>
      ${few && html`<span class="quiet-text" role="status">At least two models are needed.</span>`}
      ${source.open.length > 0 && html`<span class="quiet-text">
        ${count(source.open.length, 'column')} to look at first</span>`}
    </p>
  </form>`;
}

const FILE_HINT = 'CSV, TSV, Parquet, NumPy (.npz) or JSON lines: one row per item, one column per model. '
  + 'Other columns can be shown with the item.';

/** @param {{source: PredictionFile, choose: (file: File|null) => void}} props */
function FileField({ source, choose }) {
  const { seen } = source;
  const chosen = (/** @type {EventOn<HTMLInputElement>} */ event) => choose(event.currentTarget.files?.[0] ?? null);
  return html`<${Field} label="File of predictions" hint=${FILE_HINT}>
    ${(own) => html`<input ...${own} type="file" accept=${FORMATS} onChange=${chosen} />`}
  <//>
  <p class="seen" role="status">${seen && !seen.problem && !source.error && html`<${Seen} seen=${seen} />`}</p>
  ${seen?.problem && html`<p class="form-error" dir="auto">${seen.problem}</p>`}
  <${ColumnTable} source=${source} again />`;
}

/** What the file contains. @param {{seen: Api.FileLook}} props */
function Seen({ seen: { items, models, classes, labelled } }) {
  const sizes = [count(items, 'item'), count(models.length, 'model'), count(classes.length, 'class', 'classes')];
  return html`<strong>${sizes.join(', ')}.</strong> Models: <bdi>${several(models.map(text), NAMED)}</bdi>.
    ${labelled && ' The file has labels. They are not used here: people are asked instead.'}`;
}

/** @param {Part} props */
function Spending({ form, seen, set }) {
  const whole = { type: 'number', min: 1, max: Number.MAX_SAFE_INTEGER, step: 1, inputmode: 'numeric' };
  const race = form.algorithm === 'race';
  return html`<div class="two">
    <${Input} ...${whole} label="Budget"
      hint="At most this many labels. Empty: as many as the algorithm asks for."
      value=${form.budget} set=${(budget) => set({ budget })} />
    <${Input} ...${whole} label="Expected items"
      hint="How many items will come in all, as far as you know. A budget is spread over them."
      value=${form.expected ?? seen?.items ?? ''} set=${(expected) => set({ expected })} />
    <${Input} type="number" min="0" max="99" step="any" inputmode="decimal" label="Stop when certified within (%)"
      hint=${race
        ? 'Race stops when the leader is proven to be this close to the best. Empty: within 1 %.'
        : 'Ask for no label while the pick is certified to be this close to the best. Empty: do not stop for that.'}
      value=${form.stop} set=${(stop) => set({ stop })} />
    <${Select} label="Certified for" value=${race ? 'population' : form.kind} disabled=${race || form.stop === ''}
      options=${[['population', 'items like these'], ['stream', 'the items seen so far']]}
      hint="Items like these: items are drawn independently from one source. Items seen so far: nothing is assumed."
      set=${(kind) => set({ kind })} />
  </div>`;
}

/** @param {Part} props */
function Classes({ form, seen, set }) {
  return html`<fieldset>
    <legend>Classes</legend>
    <label class="choice">
      <input type="radio" name="closed" checked=${!form.closed} onChange=${() => set({ closed: false })} />
      Whatever the models predict, and others that annotators add
    </label>
    <label class="choice">
      <input type="radio" name="closed" checked=${form.closed} onChange=${() => set({ closed: true })} />
      Only these
    </label>
    ${form.closed && html`<${Lines} label="Classes, one per line" rows="5" required
      value=${form.classes ?? classLines(seen)} set=${(classes) => set({ classes })} />`}
  </fieldset>`;
}

const ALGORITHM_HINT = 'If the items come from one source, race needs the fewest labels and stops when it has proof. '
  + 'If they may change over time, take model-picker. The others are there to compare.';

/** @param {Part} props */
function More({ form, set }) {
  return html`<details><summary>More</summary>
    <${Select} label="Algorithm" value=${form.algorithm} options=${ALGORITHMS.map((name) => [name, name])}
      hint=${ALGORITHM_HINT} set=${(algorithm) => set({ algorithm })} />
    <${Input} label="Seed" type="number" min="0" max=${Number.MAX_SAFE_INTEGER} step="1" value=${form.seed}
      set=${(seed) => set({ seed })} hint="The same seed and the same predictions give the same decisions." />
  </details>`;
}

/**
 * A name for a campaign with this file: one that the server accepts, and that no other campaign has.
 * @param {string} filename
 */
async function freeName(filename) {
  const stem = filename.replace(/\.\w+$/, '').replace(/[^\p{L}\p{N}_.-]+/gu, ' ');
  const plain = stem.replace(/^[^\p{L}\p{N}]+/u, '').slice(0, LONGEST_NAME - 5).trimEnd() || 'campaign';
  const taken = new Set((await api.campaigns()).map(({ name }) => name));
  if (!taken.has(plain)) return plain;
  for (let number = 2; ; number += 1) if (!taken.has(`${plain} ${number}`)) return `${plain} ${number}`;
}

/** @param {Api.FileLook|null} seen */
const classLines = (seen) => (seen?.classes ?? []).map(String).join('\n');
/** @param {string} value */
const lines = (value) => value.split('\n').map((line) => line.trim()).filter(Boolean);
/** @param {string} value */
const wholeOrNull = (value) => (value === '' ? null : Number(value));

/**
 * Whether only one model was named. (If there is none, the browser says that the field is required.)
 * @param {Form} form @param {Api.FileLook|null} seen
 */
const hasTooFewModels = (form, seen) => (seen ? seen.models.length < 2 : new Set(lines(form.models)).size === 1);

/** @param {string} name */
const otherName = (name) => `“${name}” was created already, with what the form said before. `
  + 'Choose another name to create a campaign with what it says now.';

/**
 * Checked before the campaign is created: the server would create it, and then refuse the file.
 * @param {Api.NewCampaign} wanted @param {Api.FileLook|null} seen
 */
function refuseMissing({ classes }, seen) {
  const missing = (seen?.classes ?? []).filter((name) => classes && !classes.includes(name));
  if (!missing.length) return;
  throw new Error(`The file has ${missing.length === 1 ? 'a class that is' : 'classes that are'} not in the list: `
    + `${several(missing.map(text), NAMED)}. Add to the list, or accept whatever the models predict.`);
}

/**
 * The campaign to create: what this person chose, and what the file says for the rest. Classes of the file keep their
 * type, number or text.
 * @param {Form} form @param {Api.FileLook|null} seen @returns {Api.NewCampaign}
 */
function campaignOf(form, seen) {
  const known = new Map((seen?.classes ?? []).map((name) => [String(name).trim(), name]));
  const race = form.algorithm === 'race';
  const gap = form.stop === '' ? null : Number(form.stop) / 100;
  return {
    name: form.name.trim(),
    models: seen?.models ?? lines(form.models),
    classes: form.closed
      ? lines(form.classes ?? classLines(seen)).map((line) => known.get(line) ?? line)
      : null,
    budget: wholeOrNull(form.budget),
    expected_rounds: wholeOrNull(form.expected ?? String(seen?.items ?? '')),
    stop_when: gap === null || race ? null : { gap, kind: form.kind },
    algorithm: form.algorithm,
    options: race && gap !== null ? { tolerance: gap } : {},
    seed: Number(form.seed),
  };
}
