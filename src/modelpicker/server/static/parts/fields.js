/** Form fields: a label, its control and a hint, connected for screen readers. */

import { html } from '../lib/html.js';

/** @typedef {{label: string, hint?: string, set: SetText}} Control */

/** @param {{label: string, hint?: string, children: (own: object) => object}} props */
export function Field({ label, hint, children }) {
  const id = `field-${label.toLowerCase().replace(/\W+/g, '-')}`;
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${children({ id, 'aria-describedby': hint ? `${id}-hint` : undefined })}
    ${hint && html`<p class="quiet-text" id=${`${id}-hint`}>${hint}</p>`}
  </div>`;
}

/** One line of text, or a number. @param {Control} props the rest are attributes of the <input> */
export function Input({ label, hint, set, ...rest }) {
  const typed = (/** @type {EventOn<HTMLInputElement>} */ event) => set(event.currentTarget.value);
  return html`<${Field} label=${label} hint=${hint}>
    ${(own) => html`<input ...${own} ...${rest} onInput=${typed} />`}
  <//>`;
}

/** Several lines of text. @param {Control} props the rest are attributes of the <textarea> */
export function Lines({ label, hint, set, ...rest }) {
  const typed = (/** @type {EventOn<HTMLTextAreaElement>} */ event) => set(event.currentTarget.value);
  return html`<${Field} label=${label} hint=${hint}>
    ${(own) => html`<textarea ...${own} ...${rest} onInput=${typed}></textarea>`}
  <//>`;
}

/** A choice. @param {Control & {options: [string, string][]}} props the rest are attributes of the <select> */
export function Select({ label, hint, options, set, ...rest }) {
  const chosen = (/** @type {EventOn<HTMLSelectElement>} */ event) => set(event.currentTarget.value);
  return html`<${Field} label=${label} hint=${hint}>
    ${(own) => html`<select ...${own} ...${rest} onChange=${chosen}>
      ${options.map(([value, title]) => html`<option key=${value} value=${value}>${title}</option>`)}
    </select>`}
  <//>`;
}
