/** Creating a campaign: from a file of predictions, or from the names of models. */

import { api } from './api.js';
import { html, useState } from './html.js';
import { go, home, inCampaign, useView } from './router.js';
import { count, list, text } from './words.js';

const ALGORITHMS = ['model-picker', 'label-efficient', 'vote-entropy', 'structural-committee', 'importance-weighted', 'efficient-active'];
export const FORMATS = '.csv,.tsv,.parquet,.npz,.jsonl,.ndjson';
const NAMED = 6;

const BLANK = { name: '', models: '', classes: '', closed: false, budget: '', expected: '', algorithm: ALGORITHMS[0], seed: '0' };

export function CreateView() {
  useView('New campaign', 'new');
  const [form, setForm] = useState(BLANK);
  const [file, setFile] = useState(null);
  const [seen, setSeen] = useState(null);
  const [busy, setBusy] = useState('');
  const [error, setError] = useState(null);
  const set = (change) => setForm((before) => ({ ...before, ...change }));

  const attempt = async (what, work) => {
    setBusy(what);
    setError(null);
    await work().catch(setError);
    setBusy('');
  };
  const choose = (chosen) => {
    setFile(chosen);
    setSeen(null);
    setError(null);
    if (chosen) attempt('Reading the file …', async () => {
      const looked = await api.look(chosen);
      setSeen(looked);
      set({ expected: String(looked.items), classes: looked.classes.map(String).join('\n') });
      setForm((before) => ({ ...before, name: before.name || stem(chosen.name) }));
    });
  };
  const submit = (event) => {
    event.preventDefault();
    attempt('Creating …', async () => {
      const { name } = await api.create(campaignOf(form, seen));
      if (!file) return go(inCampaign(name, 'files'));
      setBusy('Uploading …');
      await api.upload(name, file);
      return go(inCampaign(name, 'label'));
    });
  };
  return html`<form class="card form" onSubmit=${submit} aria-busy=${busy !== ''}>
    <h1 tabindex="-1">New campaign</h1>
    <${FileField} ...${{ file, seen, choose }} />
    ${!file && html`<${Field} label="Or the names of the models, one a line" hint="Then predictions come later: from a file, or from programs that ask.">
      ${(own) => html`<textarea ...${own} rows="4" required value=${form.models} onInput=${(event) => set({ models: event.currentTarget.value })}></textarea>`}
    <//>`}
    <${Field} label="Name">
      ${(own) => html`<input ...${own} type="text" required maxlength="200" value=${form.name} onInput=${(event) => set({ name: event.currentTarget.value })} />`}
    <//>
    <${Numbers} form=${form} set=${set} />
    <${Classes} form=${form} set=${set} />
    <details><summary>More</summary>
      <${Field} label="Algorithm" hint="model-picker has nothing to tune and needs the fewest labels; the others are there to compare.">
        ${(own) => html`<select ...${own} value=${form.algorithm} onChange=${(event) => set({ algorithm: event.currentTarget.value })}>
          ${ALGORITHMS.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}</select>`}
      <//>
      <${Field} label="Seed" hint="The same seed and the same predictions give the same decisions.">
        ${(own) => html`<input ...${own} type="number" min="0" step="1" value=${form.seed} onInput=${(event) => set({ seed: event.currentTarget.value })} />`}
      <//>
    </details>
    <p class="form-error" role="alert" dir="auto">${error?.message}</p>
    <p class="actions">
      <button class="primary" disabled=${busy !== '' || (file && !seen)}>${busy || 'Create campaign'}</button>
      <a class="button" href=${home}>Cancel</a>
    </p>
  </form>`;
}

/** A label, its control and a hint, tied together for screen readers. */
export function Field({ label, hint, children }) {
  const id = `field-${label.toLowerCase().replace(/\W+/g, '-')}`;
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${children({ id, 'aria-describedby': hint ? `${id}-hint` : undefined })}
    ${hint && html`<p class="quiet-text" id=${`${id}-hint`}>${hint}</p>`}
  </div>`;
}

function FileField({ file, seen, choose }) {
  const models = seen?.models.map(text) ?? [];
  const named = models.length > NAMED ? [...models.slice(0, NAMED - 1), `${models.length - NAMED + 1} more`] : models;
  return html`<${Field} label="File of predictions" hint="CSV, Parquet, NumPy (.npz) or JSON lines: a row an item, a column a model; columns id, key, text and image are shown with the item.">
    ${(own) => html`<input ...${own} type="file" accept=${FORMATS} onChange=${(event) => choose(event.currentTarget.files[0] ?? null)} />`}
  <//>
  <p class="seen" role="status">${seen && html`<strong>${count(seen.items, 'item')}, ${count(seen.models.length, 'model')}, ${count(seen.classes.length, 'class', 'classes')}.</strong>
    ${' '}Models: <bdi>${list(named)}</bdi>.${seen.labelled && ' The file has labels; they are not used: you are asked for the few that matter.'}`}</p>`;
}

function Numbers({ form, set }) {
  return html`<div class="two">
    <${Field} label="Budget" hint="At most so many labels. Empty: as many as the algorithm asks for.">
      ${(own) => html`<input ...${own} type="number" min="1" step="1" inputmode="numeric" value=${form.budget} onInput=${(event) => set({ budget: event.currentTarget.value })} />`}
    <//>
    <${Field} label="Expected rounds" hint="How many items will come in all, roughly; the budget is spread over them.">
      ${(own) => html`<input ...${own} type="number" min="1" step="1" inputmode="numeric" value=${form.expected} onInput=${(event) => set({ expected: event.currentTarget.value })} />`}
    <//>
  </div>`;
}

function Classes({ form, set }) {
  return html`<fieldset>
    <legend>Classes</legend>
    <label class="choice"><input type="radio" name="closed" checked=${!form.closed} onChange=${() => set({ closed: false })} />
      Whatever the models predict, and others that annotators type</label>
    <label class="choice"><input type="radio" name="closed" checked=${form.closed} onChange=${() => set({ closed: true })} />
      Only these</label>
    ${form.closed && html`<${Field} label="Classes, one a line">
      ${(own) => html`<textarea ...${own} rows="5" required value=${form.classes} onInput=${(event) => set({ classes: event.currentTarget.value })}></textarea>`}
    <//>`}
  </fieldset>`;
}

const lines = (value) => value.split('\n').map((line) => line.trim()).filter(Boolean);
const wholeOrNull = (value) => (value === '' ? null : Number(value));
const stem = (filename) => filename.replace(/\.\w+$/, '');

/** What the server is asked to create. Classes that the file has stay what they are there, numbers or text. */
function campaignOf(form, seen) {
  const known = new Map((seen?.classes ?? []).map((name) => [String(name), name]));
  return {
    name: form.name.trim(),
    models: seen?.models ?? lines(form.models),
    classes: form.closed ? lines(form.classes).map((line) => known.get(line) ?? line) : null,
    budget: wholeOrNull(form.budget),
    expected_rounds: wholeOrNull(form.expected),
    algorithm: form.algorithm,
    options: {},
    seed: Number(form.seed),
  };
}
