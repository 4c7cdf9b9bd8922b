/** Creating a campaign: from a file of predictions, or from the names of models. */

import { count, several, text } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { ColumnTable } from '../parts/column_table.js';
import { Field, Input, Lines, Select } from '../parts/fields.js';
import { Failure, Loading, useLoaded } from '../parts/loading.js';
import { OptionField, optionOf, plainOf, valuesOf } from '../parts/option_field.js';
import { api } from '../state/api.js';
import { FORMATS, upload, usePredictionFile } from '../state/prediction_file.js';
import { go, home, inCampaign, useView } from '../state/router.js';

const NAMED = 6;

/**
 * What stands in the form. Classes and expected items are those of the file until somebody types others.
 * `plain` has the settings that are one field each, `options` those of the algorithm, as they were typed.
 * @typedef {{name: string, models: string, classes: string|null, closed: boolean, plain: Record<string, string>,
 *            stop: string, kind: string, algorithm: string, options: Record<string, string>, seed: string}} Form
 * @typedef {{form: Form, known: Api.SettingsDocument, seen: Api.FileLook|null,
 *            set: (change: Partial<Form>) => void}} Part
 */

/** An empty form: the server's defaults. @param {Api.SettingsDocument} known @returns {Form} */
const blankOf = ({ settings }) => ({
  name: '', models: '', classes: null, closed: false, plain: {}, stop: '', kind: '', options: {}, seed: '',
  algorithm: String(optionOf(settings, 'algorithm').default),
});

/** The algorithm that is chosen. @param {Api.SettingsDocument} known @param {Form} form */
const algorithmOf = ({ algorithms }, form) => algorithms.find(({ name }) => name === form.algorithm) ?? algorithms[0];

export function CreateView() {
  useView('New campaign', 'new');
  const { value: known, error, again } = useLoaded(api.settings, []);
  return html`<section class="card form">
    <h1 tabindex="-1">New campaign</h1>
    ${known ? html`<${CreateForm} known=${known} />`
      : error?.temporary === false ? html`<${Failure} error=${error} again=${again} />`
      : html`<${Loading} what="the form" error=${error} />`}
  </section>`;
}

/** @param {{known: Api.SettingsDocument}} props */
function CreateForm({ known }) {
  const [form, setForm] = useState(blankOf(known));
  const source = usePredictionFile();
  const { file, seen } = source;
  const [busy, setBusy] = useState('');
  const [made, setMade] = useState(/** @type {Api.NewCampaign|null} */ (null));
  const [error, setError] = useState(/** @type {Error|null} */ (null));
  const set = (/** @type {Partial<Form>} */ change) => setForm((before) => ({ ...before, ...change }));

  const choose = async (/** @type {File|null} */ chosen) => {
    setError(null);
    const [found, name] = await Promise.all([
      source.choose(chosen), chosen ? freeName(chosen.name, known.longest_name) : '']);
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
    const wanted = campaignOf(form, known, seen);
    const { name } = wanted;
    refuseMissing(wanted, seen);
    // If the file was refused, the campaign is there already when it is sent again.
    if (made?.name !== name) await api.create(wanted);
    else if (JSON.stringify(made) !== JSON.stringify(wanted)) throw new Error(otherName(name));
    setMade(made?.name === name ? made : wanted);
    if (file) await upload(name, file, source.chosen, setBusy);
    go(inCampaign(name, file ? 'label' : 'files'));
  };
  const read = !file || (seen && !seen.problem && !source.busy && !source.error);
  const few = read && hasTooFewModels(form, seen);
  const ready = read && !few && !source.open.length;
  return html`<form class="form" onSubmit=${submit} aria-busy=${busy !== '' || source.busy}>
    <${FileField} source=${source} choose=${choose} />
    ${!file && html`<${Lines} label="Or the names of the models, one per line" rows="4" required
      hint="At least two. Predictions come later: from a file, or from programs that ask."
      value=${form.models} set=${(models) => set({ models })} />`}
    <${Input} label="Name" type="text" required maxlength=${known.longest_name} value=${form.name}
      set=${(name) => set({ name })} />
    <${Spending} form=${form} known=${known} seen=${seen} set=${set} />
    <${Classes} form=${form} known=${known} seen=${seen} set=${set} />
    <${More} form=${form} known=${known} seen=${seen} set=${set} />
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

/** @param {{source: import('../state/prediction_file.js').PredictionFile, choose: (file: File|null) => void}} props */
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

/** What the file has in it. @param {{seen: Api.FileLook}} props */
function Seen({ seen: { items, models, classes, labelled } }) {
  const sizes = [count(items, 'item'), count(models.length, 'model'), count(classes.length, 'class', 'classes')];
  return html`<strong>${sizes.join(', ')}.</strong> Models: <bdi>${several(models.map(text), NAMED)}</bdi>.
    ${labelled && ' The file has labels. They are not used here: people are asked instead.'}`;
}

/** The plain settings, and when to stop. @param {Part} props */
function Spending({ form, known, seen, set }) {
  const { stops, options } = algorithmOf(known, form);
  const stop = optionOf(known.settings, 'stop_when');
  const [gap, kind] = [optionOf(stop.parts, 'gap'), optionOf(stop.parts, 'kind')];
  const typed = typedOf(form, seen);
  const own = stops ? optionOf(options, 'tolerance') : null;
  return html`<div class="two">
    ${plainOf(known).map((option) => html`<${OptionField} key=${option.name} option=${option}
      value=${typed[option.name] ?? ''} set=${(value) => set({ plain: { ...form.plain, [option.name]: value } })} />`)}
    <${OptionField} option=${gap} label=${stop.title} hint=${own?.help ?? stop.help} value=${form.stop}
      placeholder=${own ? percent(Number(own.default)) : ''} max=${percent(gap.high ?? 1) - 1}
      set=${(value) => set({ stop: value })} />
    <${OptionField} option=${kind} value=${own ? '' : form.kind} disabled=${own !== null || form.stop === ''}
      set=${(value) => set({ kind: value })} />
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

/** The algorithm, its options, and the seed. @param {Part} props */
function More({ form, known, set }) {
  const { algorithm, seed } = form;
  const chosen = algorithmOf(known, form);
  return html`<details><summary>More</summary>
    <${Select} label="Algorithm" value=${algorithm} hint=${`${chosen.summary} ${chosen.when_to_use} ${chosen.promises}`}
      options=${known.algorithms.map(({ name, when_to_use }) => [name, `${name}: ${when_to_use}`])}
      set=${(name) => set({ algorithm: name, options: {} })} />
    ${ownOptions(known, form).map((option) => html`<${OptionField} key=${`${algorithm} ${option.name}`} option=${option}
      value=${form.options[option.name] ?? ''}
      set=${(value) => set({ options: { ...form.options, [option.name]: value } })} />`)}
    <${OptionField} option=${optionOf(known.settings, 'seed')} value=${seed} set=${(value) => set({ seed: value })} />
  </details>`;
}

/** A fraction as a form shows it. @param {number} fraction */
const percent = (fraction) => fraction * 100;

/**
 * The options of the algorithm; how close is close enough is asked for with the settings.
 * @param {Api.SettingsDocument} known @param {Form} form
 */
function ownOptions(known, form) {
  const { stops, options } = algorithmOf(known, form);
  return options.filter(({ name }) => !(stops && name === 'tolerance'));
}

/**
 * The plain settings as they were typed, or as the file has them.
 * @param {Form} form @param {Api.FileLook|null} seen @returns {Record<string, string>}
 */
const typedOf = (form, seen) => ({ expected_rounds: String(seen?.items ?? ''), ...form.plain });

/**
 * A name for a campaign of this file that the server takes, and that no other campaign has.
 * @param {string} filename @param {number} longest
 */
async function freeName(filename, longest) {
  const stem = filename.replace(/\.\w+$/, '').replace(/[^\p{L}\p{N}_.-]+/gu, ' ');
  const plain = stem.replace(/^[^\p{L}\p{N}]+/u, '').slice(0, longest - 5).trimEnd() || 'campaign';
  const taken = new Set((await api.campaigns()).map(({ name }) => name));
  if (!taken.has(plain)) return plain;
  for (let number = 2; ; number += 1) if (!taken.has(`${plain} ${number}`)) return `${plain} ${number}`;
}

/** @param {Api.FileLook|null} seen */
const classLines = (seen) => (seen?.classes ?? []).map(String).join('\n');
/** @param {string} value */
const lines = (value) => value.split('\n').map((line) => line.trim()).filter(Boolean);

/**
 * Whether one model alone was named. (Where none is, the browser says that the field is required.)
 * @param {Form} form @param {Api.FileLook|null} seen
 */
const hasTooFewModels = (form, seen) => (seen ? seen.models.length < 2 : new Set(lines(form.models)).size === 1);

/** @param {string} name */
const otherName = (name) => `“${name}” was created already, with what the form said before. `
  + 'Choose another name to create a campaign with what it says now.';

/**
 * Before a campaign is made: the server would make it, and then refuse the file.
 * @param {Api.NewCampaign} wanted @param {Api.FileLook|null} seen
 */
function refuseMissing({ classes }, seen) {
  const missing = (seen?.classes ?? []).filter((name) => classes && !classes.includes(name));
  if (!missing.length) return;
  throw new Error(`The file has ${missing.length === 1 ? 'a class that is' : 'classes that are'} not in the list: `
    + `${several(missing.map(text), NAMED)}. Add to the list, or accept whatever the models predict.`);
}

/**
 * What the server is asked to create: what this person decided, and what the file says where they did not.
 * Classes that the file has stay what they are there, numbers or text.
 * @param {Form} form @param {Api.SettingsDocument} known @param {Api.FileLook|null} seen @returns {Api.NewCampaign}
 */
function campaignOf(form, known, seen) {
  const names = new Map((seen?.classes ?? []).map((name) => [String(name).trim(), name]));
  const { name: algorithm, stops } = algorithmOf(known, form);
  const gap = form.stop === '' ? null : Number(form.stop) / 100;
  const rule = { gap: gap ?? undefined, ...(form.kind ? { kind: form.kind } : {}) };
  return /** @type {Api.NewCampaign} */ ({
    name: form.name.trim(),
    models: seen?.models ?? lines(form.models),
    classes: form.closed
      ? lines(form.classes ?? classLines(seen)).map((line) => names.get(line) ?? line)
      : null,
    ...valuesOf(plainOf(known), typedOf(form, seen)),
    stop_when: gap === null || stops ? null : rule,
    algorithm,
    options: {
      ...valuesOf(ownOptions(known, form), form.options),
      ...(stops && gap !== null ? { tolerance: gap } : {}),
    },
    ...valuesOf([optionOf(known.settings, 'seed')], { seed: form.seed }),
  });
}
