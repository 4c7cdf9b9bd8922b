/** What the owner wrote for annotators. Where there is room it is open at first. It stays as somebody leaves it. */

import { html, useState } from '../lib/html.js';
import { readValue, writeValue } from '../state/browser_storage.js';
import { Formatted } from './text.js';

const ROOM = '(min-width: 1000px) and (min-height: 700px)';

/** @param {{name: string, text: string}} props */
export function Guidelines({ name, text }) {
  const key = `guidelines:${name}`;
  const [open] = useState(() => readValue(localStorage, key, matchMedia(ROOM).matches));
  if (!text) return null;
  const toggled = (/** @type {EventOn<HTMLDetailsElement>} */ event) => writeValue(localStorage, key, event.currentTarget.open);
  return html`<details class="guidelines" open=${open} onToggle=${toggled}>
    <summary>Guidelines</summary>
    <div tabindex="0" role="group" aria-label="Guidelines"><${Formatted} value=${text} /></div>
  </details>`;
}
