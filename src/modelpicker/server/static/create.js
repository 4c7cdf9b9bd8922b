/** Creating a campaign: from a file of predictions, or from the names of models. */

import { api } from './api.js';
import { Field, Input, Lines, Select } from './fields.js';
import { html, useState } from './html.js';
import { go, home, inCampaign, useView } from './router.js';
import { count, list, text } from './words.js';

const ALGORITHMS = [
  'model-picker', 'race', 'label-efficient', 'vote-entropy', 'structural-committee', 'importance-weighted',
  'efficient-active',
];
export const FORMATS = '.csv,.tsv,.parquet,.npz,.jsonl,.ndjson';
const NAMED = 6;
const LONGEST_NAME = 100;

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
    .then(({ rounds }) => rounds > 0 && tell(`Uploading … ${count(rounds, 'item')} so far`))
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
      const name = await freeName(chosen.name);
      setSeen(looked);
      set({ classes: looked.classes.map(String).join('\n'), expected: String(looked.items) });
      setForm((before) => ({ ...before, name: before.name || name }));
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
    ${!file && html`<${Lines} label="Or the names of the models, one per line" rows="4" required
      hint="At least two. Predictions come later: from a file, or from programs that ask."
      value=${form.models} set=${(models) => set({ models })} />`}
    <${Input} label="Name" type="text" required maxlength=${LONGEST_NAME} value=${form.name}
      set=${(name) => set({ name })} />
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

const FILE_HINT = 'CSV, TSV, Parquet, NumPy (.npz) or JSON lines: one row per item, one column per model; '
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
    ${labelled && ' The file has labels. They are not used here: people are asked instead.'}`;
}

function Spending({ form, set }) {
  const whole = { type: 'number', min: 1, max: Number.MAX_SAFE_INTEGER, step: 1, inputmode: 'numeric' };
  const race = form.algorithm === 'race';
  return html`<div class="two">
    <${Input} ...${whole} label="Budget"
      hint="At most this many labels. Empty: as many as the algorithm asks for."
      value=${form.budget} set=${(budget) => set({ budget })} />
    <${Input} ...${whole} label="Expected items" disabled=${form.budget === ''}
      hint="Roughly how many items will come. A budget is spread over them; without a budget this is not used."
      value=${form.expected} set=${(expected) => set({ expected })} />
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

function Classes({ form, set }) {
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
    ${form.closed && html`<${Lines} label="Classes, one per line" rows="5" required value=${form.classes}
      set=${(classes) => set({ classes })} />`}
  </fieldset>`;
}

const ALGORITHM_HINT = 'If the items come from one source, race needs the fewest labels and stops when it has proof. '
  + 'If they may change over time, take model-picker. The others are there to compare.';

function More({ form, set }) {
  return html`<details><summary>More</summary>
    <${Select} label="Algorithm" value=${form.algorithm} options=${ALGORITHMS.map((name) => [name, name])}
      hint=${ALGORITHM_HINT} set=${(algorithm) => set({ algorithm })} />
    <${Input} label="Seed" type="number" min="0" max=${Number.MAX_SAFE_INTEGER} step="1" value=${form.seed}
      set=${(seed) => set({ seed })} hint="The same seed and the same predictions give the same decisions." />
  </details>`;
}

/** A name for a campaign of this file that the server takes, and that no other campaign has. */
async function freeName(filename) {
  const stem = filename.replace(/\.\w+$/, '').replace(/[^\p{L}\p{N}_.-]+/gu, ' ');
  const plain = stem.replace(/^[^\p{L}\p{N}]+/u, '').slice(0, LONGEST_NAME - 5).trimEnd() || 'campaign';
  const taken = new Set((await api.campaigns()).map(({ name }) => name));
  if (!taken.has(plain)) return plain;
  for (let number = 2; ; number += 1) if (!taken.has(`${plain} ${number}`)) return `${plain} ${number}`;
}

const lines = (value) => value.split('\n').map((line) => line.trim()).filter(Boolean);
const wholeOrNull = (value) => (value === '' ? null : Number(value));

/**
 * What the server is asked to create: what this person decided, and nothing that has no effect without it.
 * Classes that the file has stay what they are there, numbers or text.
 */
function campaignOf(form, seen) {
  const known = new Map((seen?.classes ?? []).map((name) => [String(name), name]));
  const race = form.algorithm === 'race';
  const gap = form.stop === '' ? null : Number(form.stop) / 100;
  return {
    name: form.name.trim(),
    models: seen?.models ?? lines(form.models),
    classes: form.closed ? lines(form.classes).map((line) => known.get(line) ?? line) : null,
    budget: wholeOrNull(form.budget),
    expected_rounds: form.budget === '' ? null : wholeOrNull(form.expected),
    stop_when: gap === null || race ? null : { gap, kind: form.kind },
    algorithm: form.algorithm,
    options: race && gap !== null ? { tolerance: gap } : {},
    seed: Number(form.seed),
  };
}
