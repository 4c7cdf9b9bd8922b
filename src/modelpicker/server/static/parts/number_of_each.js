/** A number for each of several names, such as what a model costs: what is left empty is not said. */

import { text } from '../lib/format.js';
import { html } from '../lib/html.js';

/** @typedef {Record<string, string>} Typed what was typed, by name */

/**
 * @param {{label: string, hint: string, names: (string|number)[], typed: Typed, placeholder: string,
 *          set: (typed: Typed) => void}} props
 */
export function NumberOfEach({ label, hint, names, typed, placeholder, set }) {
  const type = (/** @type {string} */ name, /** @type {string} */ value) => set({ ...typed, [name]: value });
  return html`<fieldset class="each">
    <legend>${label}</legend>
    <p class="quiet-text">${hint}</p>
    <div class="three">${names.map(String).map((name) => html`<label key=${name} class="number-of">
      <bdi>${text(name)}</bdi>
      <input type="number" min="0" step="any" inputmode="decimal" placeholder=${placeholder}
        value=${Object.hasOwn(typed, name) ? typed[name] : ''}
        onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => type(name, event.currentTarget.value)} />
    </label>`)}</div>
  </fieldset>`;
}

/**
 * The numbers as JSON, without those of names that are not there; empty if there is none.
 * @param {Typed} typed @param {(string|number)[]} names
 */
export function numbersOf(typed, names) {
  const there = new Set(names.map(String));
  const found = Object.entries(typed).filter(([name, value]) => there.has(name) && value !== '');
  return found.length ? JSON.stringify(Object.fromEntries(found.map(([name, value]) => [name, Number(value)]))) : '';
}
