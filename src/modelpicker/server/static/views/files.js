/** The files of a campaign: upload predictions, download results. */

import { count, number, several } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { CampaignHead } from '../parts/campaign_head.js';
import { ColumnTable } from '../parts/column_table.js';
import { FeedChoice } from '../parts/feed_choice.js';
import { Field } from '../parts/fields.js';
import { Failure, useLoaded } from '../parts/loading.js';
import { isIdle } from '../parts/state_badge.js';
import { api, downloadUrl } from '../state/api.js';
import { FORMATS, sum, upload, usePredictionFile } from '../state/prediction_file.js';
import { inCampaign } from '../state/router.js';
import { session } from '../state/session.js';

/**
 * @typedef {import('../state/prediction_file.js').Column} Column
 * @typedef {import('../state/prediction_file.js').PredictionFile} PredictionFile
 */

const POOL = 'pool-picker';
/** @type {['answers'|'labels'|'export', string, string, string][]} */
const DOWNLOADS = [
  ['labels', 'csv', 'Labels, with annotators', 'every answer: who gave it, when, the item, and what each model said'],
  ['answers', 'csv', 'Labels, short', 'every query with its label, if it has one: id, key, label, state'],
  ['export', 'jsonl', 'Everything, as JSON lines', 'the whole campaign, which the command modelpicker import reads back'],
  ['export', 'parquet', 'Everything, as Parquet', 'the same, for data frames'],
];

/** @param {{name: string}} props */
export function FilesView({ name }) {
  const { value: campaign, error, again } = useLoaded(() => api.campaign(name), [name]);
  const refused = error?.temporary === false ? error : null;
  return html`<div class="files-view">
    <${CampaignHead} name=${name} tab="files" />
    ${refused ? html`<${Failure} error=${refused} again=${again} />` : html`
      ${session.owns && campaign && html`<${WaitingItems} campaign=${campaign} changed=${again} />
        <${Upload} campaign=${campaign} changed=${again} />`}
      <section class="card" aria-labelledby="downloads-title">
        <h2 id="downloads-title">Download results</h2>
        <ul class="downloads">${DOWNLOADS.map(([what, format, title, hint]) => html`<li key=${title}>
          <a class="button" href=${downloadUrl(name, what, format)} download>${title}</a>
          <span class="quiet-text">${hint}</span>
        </li>`)}</ul>
      </section>`}
  </div>`;
}

const HINT = 'CSV, TSV, Excel, Parquet, NumPy (.npz) or JSON, with the models of this campaign. '
  + 'Items that are known already are left out, so the same file may be sent twice.';

/**
 * Items of files that wait to be asked about, and how to drop them.
 * @param {{campaign: Api.Described, changed: () => void}} props
 */
function WaitingItems({ campaign: { name, waiting_items: waiting, state }, changed }) {
  const [sure, setSure] = useState(false);
  const [error, setError] = useState(/** @type {Error|null} */ (null));
  const drop = () => {
    setSure(false);
    api.dropItems(name).then(changed, setError);
  };
  if (!sum(waiting)) return null;
  return html`<section class="card" aria-labelledby="waiting-title">
    <h2 id="waiting-title">Items that wait</h2>
    <ul>${Object.entries(waiting).map(([file, items]) => html`<li key=${file} dir="auto">
      ${count(items, 'item')}${file && ` of ${file}`}</li>`)}</ul>
    <p>They are asked about one after the other, as labels come.</p>
    <p class="form-error" role="alert">${error?.message}</p>
    <p class="actions">
      ${!isIdle(state) && html`<a class="button" href=${inCampaign(name, 'label')}>Label the next item</a>`}
      ${sure ? html`<button type="button" class="danger" onClick=${drop}>Yes, ask about none of them</button>
          <button type="button" onClick=${() => setSure(false)}>Keep them</button>`
        : html`<button type="button" onClick=${() => setSure(true)}>Drop them</button>`}
    </p>
  </section>`;
}

/** @param {{campaign: Api.Described, changed: () => void}} props */
function Upload({ campaign: { name, models: given, algorithm, missing: meaning }, changed }) {
  const models = (given ?? []).map(String);
  const stream = algorithm !== POOL;
  const [atOnce, setAtOnce] = useState(false);
  const [busy, setBusy] = useState('');
  const [done, setDone] = useState(/** @type {Api.FileTaken|null} */ (null));
  const [error, setError] = useState(/** @type {Error|null} */ (null));
  const source = usePredictionFile((columns) => asMembers(columns, new Set(models)));
  const choose = (/** @type {EventOn<HTMLInputElement>} */ event) => {
    setDone(null);
    setError(null);
    source.choose(event.currentTarget.files?.[0] ?? null);
  };
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!source.file) return;
    setDone(null);
    setError(null);
    await upload(name, source.file, chosenOf(source), stream && atOnce, setBusy).then(setDone, setError);
    setBusy('');
    changed();
  };
  const missing = source.seen ? models.filter((model) => !source.columns.some((one) => one.name === model)) : [];
  const lacking = missing.length > 0 && (meaning !== 'not-run' || missing.length === models.length);
  const ready = busy === '' && !source.busy && !source.open.length && !lacking;
  return html`<form class="card form" onSubmit=${submit} aria-busy=${busy !== '' || source.busy}>
    <h2>Add predictions</h2>
    <${Field} label="File of predictions" hint=${HINT}>
      ${(own) => html`<input ...${own} type="file" required accept=${FORMATS} onChange=${choose} />`}
    <//>
    ${lacking
      ? html`<p class="form-error" role="alert" dir="auto">This file has no column for ${several(missing)}.</p>`
      : html`<${ColumnTable} source=${source} roles=${['shown', 'id', 'label', 'left out']} />`}
    ${stream && html`<${FeedChoice} atOnce=${atOnce} set=${setAtOnce} />`}
    <p class="form-error" role="alert" dir="auto">${(error ?? source.error)?.message}</p>
    <p role="status" class="seen">${done && html`<${Taken} name=${name} done=${done} />`}</p>
    <p class="actions"><button class="primary" disabled=${!ready}>
      ${busy || (source.busy ? 'Reading the file …' : 'Upload')}</button></p>
  </form>`;
}

/**
 * The columns as this campaign uses them. Its models are fixed: no other column can become a model.
 * @param {Column[]} columns @param {Set<string>} models @returns {Column[]}
 */
function asMembers(columns, models) {
  return columns.map(({ name, role, doubt }) => {
    if (models.has(name)) return { name, role: 'model', doubt: '', fixed: true };
    if (role !== 'model') return { name, role, doubt: '' };
    return { name, role: 'left out', doubt: doubt || 'It is not a model of this campaign.' };
  });
}

/**
 * The roles that somebody chose, for columns that are in the file.
 * @param {PredictionFile} source
 */
const chosenOf = ({ columns, chosen }) => Object.fromEntries(
  columns.filter(({ name }) => chosen[name] !== undefined).map(({ name }) => [name, chosen[name]]),
);

/** What the server did with the file. @param {{name: string, done: Api.FileTaken}} props */
function Taken({ name, done: { rounds, known, queries, waiting } }) {
  const more = waiting > 0 || queries > 0;
  return html`<strong>${count(rounds + waiting, 'new item')}</strong>${
    waiting > 0 ? ', asked about as labels come' : `, ${number(queries)} to label`}${
    known > 0 && `; ${count(known, 'item')} known already`}.
    ${' '}${more && html`<a href=${inCampaign(name, 'label')}>${waiting > 0 ? 'Label the next item' : 'Label them'}</a>`}`;
}
