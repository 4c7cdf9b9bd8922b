/** Creating a campaign: from a file of predictions, or from the names of models. */

import { api } from './api.js';
import { html, useState } from './html.js';
import { go, home, inCampaign, useView } from './router.js';
import { count, list, text } from './words.js';

const ALGORITHMS = [
  'model-picker', 'label-efficient', 'vote-entropy', 'structural-committee', 'importance-weighted', 'efficient-active',
  'race',
];
export const FORMATS = '.csv,.tsv,.parquet,.npz,.jsonl,.ndjson';
const NAMED = 6;

const BLANK = {
  name: '', models: '', classes: '', closed: false, budget: '', expected: '', stop: '', kind: 'population',
  algorithm: ALGORITHMS[0], seed: '0',
};

/**
 * Send a file, and tell how far it has come.
 * @param {string} name @param {File} file @param {(said: string) => void} tell
 */
export async function upload(name, file, tell) {
  tell('Uploading …');
  const look = () => api.campaign(name)
    .then(({ rounds }) => rounds > 0 && tell(`Uploading … ${count(rounds, 'round')} so far`))
    .catch(() => undefined);
  const timer = setInterval(look, 1000);
  try {
    return await api.upload(name, file);
  } finally {
    clearInterval(timer);
  }
}

export function CreateView() {
  useView('New campaign', 'new');
  const [form, setForm] = useState(BLANK);
  const [file, setFile] = useState(null);
  const [seen, setSeen] = useState(null);
  const [busy, setBusy] = useState('');
  const [made, setMade] = useState(null);
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
      set({ classes: looked.classes.map(String).join('\n'), expected: String(looked.items) });
      setForm((before) => ({ ...before, name: before.name || stem(chosen.name) }));
    });
  };
  const submit = (event) => {
    event.preventDefault();
    attempt('Creating …', async () => {
      // If the file was refused, the campaign is there already when it is sent again.
      const name = made === form.name ? made : (await api.create(campaignOf(form, seen))).name;
      setMade(name);
      if (!file) return go(inCampaign(name, 'files'));
      await upload(name, file, setBusy);
      return go(inCampaign(name, 'label'));
    });
  };
  return html`<form class="card form" onSubmit=${submit} aria-busy=${busy !== ''}>
    <h1 tabindex="-1">New campaign</h1>
    <${FileField} ...${{ file, seen, choose }} />
    ${!file && html`<${Lines} label="Or the names of the models, one a line" rows="4"
      hint="Then predictions come later: from a file, or from programs that ask."
      value=${form.models} set=${(models) => set({ models })} />`}
    <${Input} label="Name" type="text" required maxlength="100" value=${form.name} set=${(name) => set({ name })} />
    <${Spending} form=${form} set=${set} />
    <${Classes} form=${form} set=${set} />
    <${More} form=${form} set=${set} />
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

function Input({ label, hint, set, ...rest }) {
  const typed = (event) => set(event.currentTarget.value);
  return html`<${Field} label=${label} hint=${hint}>
    ${(own) => html`<input ...${own} ...${rest} onInput=${typed} />`}
  <//>`;
}

function Lines({ label, hint, set, ...rest }) {
  const typed = (event) => set(event.currentTarget.value);
  return html`<${Field} label=${label} hint=${hint}>
    ${(own) => html`<textarea ...${own} ...${rest} required onInput=${typed}></textarea>`}
  <//>`;
}

const FILE_HINT = 'CSV, Parquet, NumPy (.npz) or JSON lines: a row an item, a column a model; '
  + 'columns id, key, text and image are shown with the item.';

function FileField({ file, seen, choose }) {
  const chosen = (event) => choose(event.currentTarget.files[0] ?? null);
  return html`<${Field} label="File of predictions" hint=${FILE_HINT}>
    ${(own) => html`<input ...${own} type="file" accept=${FORMATS} onChange=${chosen} />`}
  <//>
  <p class="seen" role="status">${file && seen && html`<${Seen} seen=${seen} />`}</p>`;
}

/** What the file has in it. */
function Seen({ seen: { items, models, classes, labelled } }) {
  const names = models.map(text);
  const named = names.length > NAMED ? [...names.slice(0, NAMED - 1), `${names.length - NAMED + 1} more`] : names;
  const sizes = [count(items, 'item'), count(models.length, 'model'), count(classes.length, 'class', 'classes')];
  return html`<strong>${sizes.join(', ')}.</strong> Models: <bdi>${list(named)}</bdi>.
    ${labelled && ' The file has labels; they are not used: you are asked for the few that matter.'}`;
}

function Spending({ form, set }) {
  const whole = { type: 'number', min: 1, step: 1, inputmode: 'numeric' };
  return html`<div class="two">
    <${Input} ...${whole} label="Budget" hint="At most so many labels. Empty: as many as the algorithm asks for."
      value=${form.budget} set=${(budget) => set({ budget })} />
    <${Input} ...${whole} label="Expected rounds"
      hint="How many items will come in all, roughly; the budget is spread over them."
      value=${form.expected} set=${(expected) => set({ expected })} />
    <${Input} type="number" min="0" max="99" step="any" inputmode="decimal" label="Stop when certified within (%)"
      hint="Ask for no label while the pick is certified this close to the best. Empty: ask on."
      value=${form.stop} set=${(stop) => set({ stop })} />
    <${Field} label="Certified for"
        hint="Items like these: as if drawn independently from one source. Items seen so far: nothing is assumed.">
      ${(own) => html`<select ...${own} value=${form.kind} disabled=${form.stop === ''}
          onChange=${(event) => set({ kind: event.currentTarget.value })}>
        <option value="population">items like these</option>
        <option value="stream">the items seen so far</option>
      </select>`}
    <//>
  </div>`;
}

function Classes({ form, set }) {
  return html`<fieldset>
    <legend>Classes</legend>
    <label class="choice">
      <input type="radio" name="closed" checked=${!form.closed} onChange=${() => set({ closed: false })} />
      Whatever the models predict, and others that annotators type
    </label>
    <label class="choice">
      <input type="radio" name="closed" checked=${form.closed} onChange=${() => set({ closed: true })} />
      Only these
    </label>
    ${form.closed && html`<${Lines} label="Classes, one a line" rows="5" value=${form.classes}
      set=${(classes) => set({ classes })} />`}
  </fieldset>`;
}

function More({ form, set }) {
  return html`<details><summary>More</summary>
    <${Field} label="Algorithm"
        hint="model-picker has nothing to tune and needs the fewest labels; the others are there to compare.">
      ${(own) => html`<select ...${own} value=${form.algorithm}
          onChange=${(event) => set({ algorithm: event.currentTarget.value })}>
        ${ALGORITHMS.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
      </select>`}
    <//>
    <${Input} label="Seed" type="number" min="0" step="1" value=${form.seed} set=${(seed) => set({ seed })}
      hint="The same seed and the same predictions give the same decisions." />
  </details>`;
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
    stop_when: form.stop === '' ? null : { gap: Number(form.stop) / 100, kind: form.kind },
    algorithm: form.algorithm,
    options: {},
    seed: Number(form.seed),
  };
}
