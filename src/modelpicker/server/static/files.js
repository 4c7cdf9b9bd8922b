/** Predictions in, results out. */

import { api, downloadUrl } from './api.js';
import { FORMATS, upload } from './create.js';
import { Field } from './fields.js';
import { CampaignHead } from './head.js';
import { html, useRef, useState } from './html.js';
import { inCampaign } from './router.js';
import { session } from './session.js';
import { Failure, useLoaded } from './states.js';
import { count } from './words.js';

const DOWNLOADS = [
  ['answers', 'csv', 'Labels', 'every query with its label, if it has one: id, key, label, state'],
  ['export', 'jsonl', 'Everything, as JSON lines', 'the whole campaign, which the command modelpicker import reads back'],
  ['export', 'parquet', 'Everything, as Parquet', 'the same, for data frames'],
];

/** @param {{name: string}} props */
export function FilesView({ name }) {
  const { error, again } = useLoaded(() => api.campaign(name), [name]);
  const refused = error?.passing === false ? error : null;
  return html`<div class="files-view">
    <${CampaignHead} name=${name} tab="files" />
    ${refused ? html`<${Failure} error=${refused} again=${again} />` : html`
      ${session.owns && html`<${Upload} name=${name} />`}
      <section class="card" aria-labelledby="downloads-title">
        <h2 id="downloads-title">Download results</h2>
        <ul class="downloads">${DOWNLOADS.map(([what, format, title, hint]) => html`<li key=${title}>
          <a class="button" href=${downloadUrl(name, what, format)} download>${title}</a>
          <span class="quiet-text">${hint}</span>
        </li>`)}</ul>
      </section>`}
  </div>`;
}

const HINT = 'CSV, Parquet, NumPy (.npz) or JSON lines, with the models of this campaign. '
  + 'What is known already is left out, so the same file may be sent twice. All items of a file are decided at once: '
  + 'labels steer what is asked of the next file, so send a long stream in parts.';

function Upload({ name }) {
  const [busy, setBusy] = useState('');
  const [done, setDone] = useState(null);
  const [error, setError] = useState(null);
  const input = useRef(null);
  const submit = async (event) => {
    event.preventDefault();
    setDone(null);
    setError(null);
    await upload(name, input.current.files[0], setBusy).then(setDone, setError);
    setBusy('');
  };
  return html`<form class="card form" onSubmit=${submit} aria-busy=${busy !== ''}>
    <h2>Add predictions</h2>
    <${Field} label="File of predictions" hint=${HINT}>
      ${(own) => html`<input ...${own} ref=${input} type="file" required accept=${FORMATS} />`}
    <//>
    <p class="form-error" role="alert" dir="auto">${error?.message}</p>
    <p role="status" class="seen">${done && html`<${Taken} name=${name} done=${done} />`}</p>
    <p class="actions"><button class="primary" disabled=${busy !== ''}>${busy || 'Upload'}</button></p>
  </form>`;
}

/** What came of a file. */
function Taken({ name, done: { rounds, known, queries } }) {
  return html`<strong>${count(rounds, 'new round')}</strong>, ${count(queries, 'query', 'queries')} among
    them${known > 0 && `; ${count(known, 'item')} known already`}.
    ${' '}${queries > 0 && html`<a href=${inCampaign(name, 'label')}>Label them</a>`}`;
}
