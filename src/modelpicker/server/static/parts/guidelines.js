/** What the owner wrote for annotators, folded until somebody opens it. It stays open from item to item. */

import { html, useState } from '../lib/html.js';
import { readValue, writeValue } from '../state/browser_storage.js';
import { Formatted } from './text.js';

/** @param {{name: string, text: string}} props */
export function Guidelines({ name, text }) {
  const key = `guidelines:${name}`;
  const [open] = useState(() => readValue(localStorage, key, false));
  if (!text) return null;
  const toggled = (/** @type {EventOn<HTMLDetailsElement>} */ event) => writeValue(localStorage, key, event.currentTarget.open);
  return html`<details class="guidelines" open=${open} onToggle=${toggled}>
    <summary>Guidelines</summary>
    <div tabindex="0" role="group" aria-label="Guidelines"><${Formatted} value=${text} /></div>
  </details>`;
}
