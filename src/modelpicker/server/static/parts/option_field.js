/** Fields of a form, made from how the server describes settings of campaigns and options of algorithms. */

import { html } from '../lib/html.js';
import { Input, Select } from './fields.js';

const NUMBERS = ['integer', 'number'];
// Settings that the form treats in its own way; any other is one field.
const APART = ['models', 'classes', 'stop_when', 'seed', 'algorithm', 'options'];

/** @param {Api.OptionDocument[]} options @param {string} name @returns {Api.OptionDocument} */
export function optionOf(options, name) {
  const found = options.find((option) => option.name === name);
  if (!found) throw new Error(`The server does not describe ${name}.`);
  return found;
}

/** The settings that are one field each. @param {Api.SettingsDocument} known */
export const plainOf = ({ settings }) => settings.filter(({ name }) => !APART.includes(name));

/**
 * One field: a number with its range, a choice, or text. Empty means the default, which is shown.
 * @param {{option: Api.OptionDocument, value: string, set: SetText, label?: string, hint?: string}} props
 *   the rest are attributes of the control
 */
export function OptionField({ option, value, set, label = option.title, hint = option.help, ...rest }) {
  const usual = option.default === null ? '' : String(option.default);
  if (option.choices.length) {
    return html`<${Select} label=${label} hint=${hint} value=${value || usual} set=${set} ...${rest}
      options=${option.choices.map((choice) => [choice, choice])} />`;
  }
  return html`<${Input} ...${limits(option)} label=${label} hint=${hint} value=${value} set=${set}
    placeholder=${usual} required=${option.required} ...${rest} />`;
}

/** What the browser checks of a field. @param {Api.OptionDocument} option */
function limits({ type, low, high }) {
  if (!NUMBERS.includes(type)) return { type: 'text' };
  const [step, inputmode] = type === 'integer' ? [1, 'numeric'] : ['any', 'decimal'];
  const max = high === null ? undefined : Math.min(high, Number.MAX_SAFE_INTEGER);
  return { type: 'number', min: low ?? undefined, max, step, inputmode };
}

/**
 * What was typed, by name, as the server takes it; what is empty is left out.
 * @param {Api.OptionDocument[]} options @param {Record<string, string>} typed
 * @returns {Record<string, string|number>}
 */
export function valuesOf(options, typed) {
  const given = options.filter(({ name }) => (typed[name] ?? '') !== '');
  const value = (/** @type {Api.OptionDocument} */ { name, type }) => (
    NUMBERS.includes(type) ? Number(typed[name]) : typed[name]);
  return Object.fromEntries(given.map((option) => [option.name, value(option)]));
}
