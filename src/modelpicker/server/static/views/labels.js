/** Every answer: who gave it, when, to which item, and what each model said. Owners correct and take back. */

import { count, itemName, labelText, number, personName, personOf, text, when } from '../lib/format.js';
import { html, useEffect, useState } from '../lib/html.js';
import { CampaignHead } from '../parts/campaign_head.js';
import { Opinions, Overlap } from '../parts/conflicts.js';
import { Correct } from '../parts/correct.js';
import { Input, Select } from '../parts/fields.js';
import { Item } from '../parts/item.js';
import { gradeBy, isDocument, LabelWords, titleOf } from '../parts/label_words.js';
import { Failure, Loading, useLoaded } from '../parts/loading.js';
import { api, labelsUrl } from '../state/api.js';
import { session } from '../state/session.js';

/**
 * @typedef {{search: string, label: string, annotator: string, state: string, flagged: string}} Filter
 * @typedef {import('../parts/correct.js').Context} Context
 */

const PAGE = 50;
const TYPING = 300; // milliseconds without a key before it is searched
/** @type {Filter} */
const ALL = { search: '', label: '', annotator: '', state: '', flagged: '' };
/** @type {[string, string][]} */
const STATES = [['', 'all'], ['labelled', 'labelled'], ['skipped', 'skipped'], ['reference', 'for reference']];
/** Those of a campaign in which several people label an item. @type {[string, string][]} */
const OPEN_STATES = [['conflict', 'in conflict'], ['waiting', 'waiting for another person']];

/** States of items whose label is not known. */
const OPEN = ['waiting', 'withdrawn', 'conflict'];

/** @type {[string, string][]} */
const FLAGS = [['', 'all'], ['true', 'flagged'], ['false', 'not flagged']];

/** @param {{name: string}} props */
export function LabelsView({ name }) {
  const [filter, setFilter] = useState(ALL);
  const [first, setFirst] = useState(0);
  const wanted = useSettled(filter);
  const { value, error, again } = useLoaded(() => api.labels(name, { ...wanted, first, most: PAGE }), [name, wanted, first]);
  const { value: vocabulary } = useLoaded(() => api.classes(name), [name]);
  const { value: campaign } = useLoaded(() => api.campaign(name), [name]);
  const several = campaign !== null && campaign.overlap !== 1;
  const set = (/** @type {Partial<Filter>} */ change) => {
    setFilter((before) => ({ ...before, ...change }));
    setFirst(0);
  };
  const body = () => {
    if (error?.temporary === false) return html`<${Failure} error=${error} again=${again} />`;
    if (!value || !vocabulary) return html`<${Loading} what="the labels" error=${error} />`;
    const askFor = campaign?.ask_for ?? 'class';
    const context = { campaign: name, vocabulary, askFor, changed: again };
    return html`${several && html`<${Overlap} ...${{ name, vocabulary, changed: again }} />`}
      <${Filters} ...${{ filter, set, vocabulary, annotators: value.annotators, several, askFor }} />
      <div class="title-row">
        <p role="status">${count(value.total, 'answer')}</p>
        <a class="button" href=${labelsUrl(name, wanted)} download>Download these as CSV</a>
      </div>
      ${value.labels.length > 0
        ? html`<ul class="label-list">${value.labels.map((row) => html`<${Row} key=${row.id} ...${{ row, context }} />`)}</ul>`
        : html`<p class="card quiet-text">${wanted === ALL ? 'Nobody has labelled anything yet.' : 'No answer matches.'}</p>`}
      <${Pages} ...${{ first, total: value.total, go: setFirst }} />`;
  };
  return html`<div class="files-view labels-view">
    <${CampaignHead} name=${name} tab="labels" />
    ${body()}
  </div>`;
}

/** A value, once nobody has changed it for a moment. @template T @param {T} value @returns {T} */
function useSettled(value) {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/**
 * @param {{filter: Filter, set: (change: Partial<Filter>) => void, vocabulary: Api.Classes, annotators: string[],
 *          several: boolean, askFor: Context['askFor']}} props
 */
function Filters({ filter, set, vocabulary, annotators, several, askFor }) {
  const named = (/** @type {Name[]} */ names) => /** @type {[string, string][]} */ ([['', 'all'],
    ...names.map((one) => [String(one), String(one)])]);
  const people = (/** @type {string[]} */ signed) => /** @type {[string, string][]} */ ([['', 'all'],
    ...new Map(signed.map((one) => [personOf(one), personName(one)]))]);
  return html`<form class="card filters" onSubmit=${(event) => event.preventDefault()} role="search">
    <${Input} label="Search" type="search" value=${filter.search} placeholder="Text, key or note"
      set=${(search) => set({ search })} maxlength="200" />
    ${askFor === 'class' && html`<${Select} label="Class" value=${filter.label} options=${named(vocabulary.classes)} set=${(label) => set({ label })} />`}
    <${Select} label="Annotator" value=${filter.annotator} options=${people(annotators)} set=${(annotator) => set({ annotator })} />
    <${Select} label="Kind" value=${filter.state} options=${several ? [...STATES, ...OPEN_STATES] : STATES} set=${(state) => set({ state })} />
    <${Select} label="Flag" value=${filter.flagged} options=${FLAGS} set=${(flagged) => set({ flagged })} />
  </form>`;
}

/** @param {{row: Api.LabelRow, context: Context}} props */
function Row({ row, context }) {
  const [editing, setEditing] = useState(false);
  const [error, setError] = useState(/** @type {Error|null} */ (null));
  const retract = () => api.retract(context.campaign, { id: row.id }).then(context.changed, setError);
  const judged = isDocument(row.label) && row.label.kind !== 'classes'; // then models are not just right or wrong
  const right = row.predictions.filter(([, said]) => gradeBy(row.label, said) === 1).length;
  const open = OPEN.includes(row.state);
  const untouched = open && !row.opinions.length; // it is there for its flag
  return html`<li class="card label-row">
    <div class="label-what">
      <p class="item-name" dir="auto" title=${itemName(row)}>${itemName(row)}</p>
      <div class="thumb" tabindex="0" role="group" aria-label=${`Content of ${itemName(row)}`}><${Item} query=${row} /></div>
    </div>
    <div class="label-facts">
      <p><strong class="badge"><bdi>${answerOf(row)}</bdi></strong>
        ${row.notes.some(({ flagged }) => flagged) && html` <strong class="flag">flagged</strong>`}
        ${row.state === 'reference' && html` <span class="quiet-text">for reference</span>`}</p>
      ${!editing && isDocument(row.label) && !OPEN.includes(row.state) && row.label.grades.length > 0 && html`<${LabelWords} label=${row.label} />`}
      ${row.opinions.length > 0 && html`<${Opinions} opinions=${row.opinions} />`}
      ${!untouched && html`<p class="quiet-text"><bdi>${personName(row.by)}</bdi> · <time
        datetime=${row.at}>${when(row.at)}</time></p>`}
      ${row.notes.map((note) => html`<p key=${note.by} class="given-note" dir="auto">${note.text || 'Flagged, without a note.'}
        <span class="quiet-text"> <bdi>${personName(note.by)}</bdi> · <time datetime=${note.at}>${when(note.at)}</time></span></p>`)}
      <details><summary>${row.label === null || judged ? 'What models said' : `${number(right)} of ${count(row.predictions.length, 'model')} agree`}</summary>
        <dl class="said-list" tabindex="0">${row.predictions.map(([model, said]) => html`<div key=${String(model)}
          class=${gradeBy(row.label, said) === 1 ? 'same' : ''}><dt><bdi>${text(model)}</bdi></dt><dd><bdi>${text(said)}</bdi></dd></div>`)}</dl>
      </details>
      ${session.owns && (editing
        ? html`<${Correct} ...${{ row, context, done: () => setEditing(false) }} />`
        : html`<p class="actions">
            ${(untouched || !open) && html`<button type="button" onClick=${() => setEditing(true)}>
              ${untouched ? 'Answer' : 'Correct'}</button>`}
            ${!untouched && html`<button type="button" onClick=${retract}>Take back</button>`}</p>`)}
      <p class="form-error" role="alert">${error?.message}</p>
    </div>
  </li>`;
}

/** What the answer to an item is called. @param {Api.LabelRow} row */
function answerOf({ state, label, opinions }) {
  if (state === 'skipped') return 'skipped';
  if (state === 'conflict') return 'in conflict';
  if (!OPEN.includes(state)) return isDocument(label) ? titleOf(label) : labelText(label);
  return opinions.length ? 'waits for another person' : 'not answered';
}

/** @param {{first: number, total: number, go: (first: number) => void}} props */
function Pages({ first, total, go }) {
  if (total <= PAGE) return null;
  return html`<nav class="actions" aria-label="Pages">
    <button type="button" disabled=${first === 0} onClick=${() => go(Math.max(0, first - PAGE))}>Newer</button>
    <span class="quiet-text">${number(first + 1)} to ${number(Math.min(total, first + PAGE))} of ${number(total)}</span>
    <button type="button" disabled=${first + PAGE >= total} onClick=${() => go(first + PAGE)}>Older</button>
  </nav>`;
}
