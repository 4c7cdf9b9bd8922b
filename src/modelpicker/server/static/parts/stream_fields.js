/** What is asked of a campaign whose items arrive over time: spending, classes, and the algorithm with its options. */

import { several, text } from '../lib/format.js';
import { html } from '../lib/html.js';
import { Lines, Select } from './fields.js';
import { OptionField, optionOf, plainOf, valuesOf } from './option_field.js';

const NAMED = 6;

/**
 * What stands in the form of a stream. Classes and expected items are those of the file until somebody types others.
 * `plain` has the settings that are one field each, `options` those of the algorithm, as they were typed.
 * @typedef {{models: string, classes: string|null, closed: boolean, plain: Record<string, string>,
 *            stop: string, kind: string, algorithm: string, options: Record<string, string>, seed: string}} Form
 * @typedef {{form: Form, known: Api.SettingsDocument, seen: Api.FileLook|null,
 *            set: (change: Partial<Form>) => void}} Part
 */

/** An empty form: the server's defaults. @param {Api.SettingsDocument} known @returns {Form} */
export const blankStream = ({ settings }) => ({
  models: '', classes: null, closed: false, plain: {}, stop: '', kind: '', options: {}, seed: '',
  algorithm: String(optionOf(settings, 'algorithm').default),
});

/** The algorithm that is chosen. @param {Api.SettingsDocument} known @param {Form} form */
const algorithmOf = ({ algorithms }, form) => algorithms.find(({ name }) => name === form.algorithm) ?? algorithms[0];

/** @param {Part} props */
export function StreamFields(props) {
  return html`<${Spending} ...${props} /><${Classes} ...${props} /><${More} ...${props} />`;
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

/** @param {Api.FileLook|null} seen */
const classLines = (seen) => (seen?.classes ?? []).map(String).join('\n');
/** @param {string} value */
const lines = (value) => value.split('\n').map((line) => line.trim()).filter(Boolean);

/**
 * Whether one model alone was named. (Where none is, the browser says that the field is required.)
 * @param {Form} form @param {Api.FileLook|null} seen
 */
export const hasTooFewModels = (form, seen) => (seen ? seen.models.length < 2 : new Set(lines(form.models)).size === 1);

/**
 * Before a campaign is made: the server would make it, and then refuse the file.
 * @param {Api.NewCampaign} wanted @param {Api.FileLook|null} seen
 */
export function refuseMissing({ classes }, seen) {
  const missing = (seen?.classes ?? []).filter((name) => classes && !classes.includes(name));
  if (!missing.length) return;
  throw new Error(`The file has ${missing.length === 1 ? 'a class that is' : 'classes that are'} not in the list: `
    + `${several(missing.map(text), NAMED)}. Add to the list, or accept whatever the models predict.`);
}

/**
 * What the server is asked to create: what this person decided, and what the file says where they did not.
 * Classes that the file has stay what they are there, numbers or text.
 * @param {string} name @param {Form} form @param {Api.SettingsDocument} known @param {Api.FileLook|null} seen
 * @returns {Api.NewCampaign}
 */
export function streamOf(name, form, known, seen) {
  const names = new Map((seen?.classes ?? []).map((name) => [String(name).trim(), name]));
  const { name: algorithm, stops } = algorithmOf(known, form);
  const gap = form.stop === '' ? null : Number(form.stop) / 100;
  const rule = { gap: gap ?? undefined, ...(form.kind ? { kind: form.kind } : {}) };
  return /** @type {Api.NewCampaign} */ ({
    name,
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
