/** How a stream asks about the items of a file: as labels come, or all at once. */

import { html } from '../lib/html.js';

/** @type {[boolean, string, string][]} */
const CHOICES = [
  [false, 'Ask as labels come (recommended)',
    'Each label decides what is asked next, so there are fewer questions. Each annotator has one question at a time.'],
  [true, 'Decide about all items now',
    'All questions are there at once, for many annotators in parallel. More labels are needed.'],
];

/** @param {{atOnce: boolean, set: (atOnce: boolean) => void}} props */
export function FeedChoice({ atOnce, set }) {
  return html`<fieldset>
    <legend>When to ask</legend>
    ${CHOICES.map(([value, title, hint]) => html`<label key=${title} class="choice">
      <input type="radio" name="at-once" checked=${atOnce === value} onChange=${() => set(value)} />
      <span>${title}<br /><span class="quiet-text">${hint}</span></span>
    </label>`)}
  </fieldset>`;
}
