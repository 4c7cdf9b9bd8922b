/**
 * An item as the annotator sees it. Its content is not trusted. It is shown as text, or as a picture if the item itself
 * contains one. Nothing is ever loaded from elsewhere.
 */

import { itemName, number } from '../lib/format.js';
import { html, useState } from '../lib/html.js';

const AT_ONCE = 20_000; // characters that a browser shows without delay
const SMALL_PICTURE = 64; // pixels; smaller pictures are enlarged without blur
const PICTURE = /^data:image\/(png|jpeg|gif|webp|svg\+xml)[;,]/i;
const FIRST = ['image', 'text'];
const CODE = /^(code|source|snippet|sql|diff|patch|log|stack_?trace|json|xml|html)$/i; // names of fields

/** @param {{query: {id: number, key: string|null, item: Record<string, unknown>|null}}} props */
export function Item({ query }) {
  const item = query.item ?? {};
  const fields = Object.entries(item);
  if (!fields.length) return html`<p class="item-plain" dir="auto">${itemName(query)}</p>`;
  const main = FIRST.filter((name) => typeof item[name] === 'string');
  const pictures = Object.keys(item).filter((name) => !FIRST.includes(name) && isPicture(item[name]));
  const shown = [...main, ...pictures];
  const rest = fields.filter(([name]) => !shown.includes(name));
  return html`<div class="item">
    ${shown.map((name) => html`<${Main} key=${name} name=${name} value=${String(item[name])} of=${itemName(query)} />`)}
    ${rest.length > 0 && html`<dl class="fields">
      ${rest.map(([name, value]) => html`<div key=${name}>
        <dt dir="auto">${name}</dt><dd><${Value} ...${{ name, value }} /></dd></div>`)}
    </dl>`}
  </div>`;
}

/** @param {unknown} value */
const isPicture = (value) => typeof value === 'string' && PICTURE.test(value);

/** @param {{name: string, value: string, of: string}} props */
function Main({ name, value, of }) {
  if (isPicture(value)) return html`<${Picture} source=${value} alt=${`${name} of ${of}`} />`;
  return html`<div class="item-text"><${Value} name=${name} value=${value} /></div>`;
}

/** A picture. An <img> runs no scripts, not even those in an SVG. @param {{source: string, alt: string}} props */
function Picture({ source, alt }) {
  const [size, setSize] = useState('');
  const [broken, setBroken] = useState(false);
  if (broken) return html`<p class="quiet-text">A picture that cannot be shown.</p>`;
  const loaded = (/** @type {EventOn<HTMLImageElement>} */ { currentTarget: { naturalWidth, naturalHeight } }) =>
    setSize(Math.max(naturalWidth, naturalHeight) < SMALL_PICTURE ? 'small' : '');
  return html`<div class="picture">
    <img class=${size} src=${source} alt=${alt} decoding="sync" onLoad=${loaded} onError=${() => setBroken(true)} />
  </div>`;
}

/** @param {{name: string, value: unknown}} props */
function Value({ name, value }) {
  if (typeof value === 'string') {
    const laidOut = jsonLaidOut(value);
    if (laidOut === null && !CODE.test(name)) return html`<${Text} value=${value} />`;
    return html`<div class="code"><${Text} value=${laidOut ?? value} /></div>`;
  }
  if (value !== null && typeof value === 'object') {
    return html`<div class="code"><${Text} value=${JSON.stringify(value, null, 2)} /></div>`;
  }
  return html`<span class="figure">${String(value)}</span>`;
}

/** Text that is a JSON object or array, one part per line; null for any other text. @param {string} value */
function jsonLaidOut(value) {
  if (!/^\s*[[{]/.test(value)) return null;
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return null;
  }
}

/**
 * Text, or a link if all of it is a web address. A long text is cut; a button shows all of it.
 * @param {{value: string}} props
 */
function Text({ value }) {
  const [whole, setWhole] = useState(false);
  const address = webAddress(value);
  if (address) {
    return html`<a class="text" dir="ltr" href=${address} target="_blank" rel="noreferrer noopener">${value}</a>`;
  }
  const cut = !whole && value.length > AT_ONCE;
  const shown = cut ? `${value.slice(0, AT_ONCE)}…` : value;
  return html`
    <div class="text" dir="auto">${shown}</div>
    ${cut && html`<button type="button" class="quiet" onClick=${() => setWhole(true)}>
      Show all ${number(value.length)} characters
    </button>`}`;
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
