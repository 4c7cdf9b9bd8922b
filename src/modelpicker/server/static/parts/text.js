/** Text that people read: with its markup, or plain if they like that better. */

import { number } from '../lib/format.js';
import { html, useMemo, useState } from '../lib/html.js';
import { readValue, writeValue } from '../state/browser_storage.js';
import { Store, useStore } from '../state/store.js';
import { markdown } from './markdown.js';

const AT_ONCE = 20_000; // characters that a browser shows without delay

class PlainText extends Store {
  /** Whether texts are shown as they were written, in this browser. */
  on = readValue(localStorage, 'plain-text', false);

  toggle() {
    this.on = !this.on;
    writeValue(localStorage, 'plain-text', this.on || undefined);
    this.emit();
  }
}

export const plainText = new PlainText();

/**
 * Text, or a link if all of it is a web address. A long text is cut; a button shows all of it.
 * @param {{value: string, formatted?: boolean}} props `formatted`: markup in it is shown
 */
export function Text({ value, formatted = false }) {
  const [whole, setWhole] = useState(false);
  const address = webAddress(value);
  if (address) {
    return html`<a class="text" dir="ltr" href=${address} target="_blank" rel="noreferrer noopener">${value}</a>`;
  }
  const cut = !whole && value.length > AT_ONCE;
  const shown = cut ? `${value.slice(0, AT_ONCE)}…` : value;
  return html`
    ${formatted ? html`<${Formatted} value=${shown} />` : html`<div class="text" dir="auto">${shown}</div>`}
    ${cut && html`<button type="button" class="quiet" onClick=${() => setWhole(true)}>
      Show all ${number(value.length)} characters
    </button>`}`;
}

/** Text with its markup, and a button to see it plain; ordinary text has neither. @param {{value: string}} props */
export function Formatted({ value }) {
  const { on } = useStore(plainText);
  const made = useMemo(() => markdown(value), [value]);
  if (!made) return html`<div class="text" dir="auto">${value}</div>`;
  return html`<div class=${on ? 'text' : 'text markdown'} dir="auto">${on ? value : made}</div>
    <button type="button" class="quiet plain-toggle" aria-pressed=${on} aria-keyshortcuts="m"
      onClick=${() => plainText.toggle()}>Plain text</button>`;
}

/** The value if it is a web address, else null: `javascript:` and the like stay text. @param {string} value */
function webAddress(value) {
  if (!/^https?:\/\/\S+$/i.test(value) || value.length > 2_000) return null;
  try {
    return new URL(value).href;
  } catch {
    return null;
  }
}
