/**
 * An item as the annotator sees it. Its content is not trusted. It is shown as text, or as a picture or a player if the
 * item itself contains one, or links to one on a host that the server allows. Nothing else is ever loaded.
 */

import { itemName } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { mediaKind } from '../lib/media.js';
import { session } from '../state/session.js';
import { Text } from './text.js';

const SMALL_PICTURE = 64; // pixels; smaller pictures are enlarged without blur
const FIRST = ['image', 'audio', 'text'];
const CODE = /^(code|source|snippet|sql|diff|patch|log|stack_?trace|json|xml|html)$/i; // names of fields

/** @param {string} name @param {unknown} value */
const kindOf = (name, value) => mediaKind(name, value, session.known?.media_hosts ?? []);

/** @param {{query: {id: number, key: string|null, item: Record<string, unknown>|null}}} props */
export function Item({ query }) {
  const item = query.item ?? {};
  const fields = Object.entries(item);
  if (!fields.length) return html`<p class="item-plain" dir="auto">${itemName(query)}</p>`;
  const main = FIRST.filter((name) => typeof item[name] === 'string');
  const media = Object.keys(item).filter((name) => !FIRST.includes(name) && kindOf(name, item[name]));
  const shown = [...main, ...media];
  const rest = fields.filter(([name]) => !shown.includes(name));
  return html`<div class="item">
    ${shown.map((name) => html`<${Main} key=${name} name=${name} value=${String(item[name])} of=${itemName(query)} />`)}
    ${rest.length > 0 && html`<dl class="fields">
      ${rest.map(([name, value]) => html`<div key=${name}>
        <dt dir="auto">${name}</dt><dd><${Value} ...${{ name, value }} /></dd></div>`)}
    </dl>`}
  </div>`;
}

/** @param {{name: string, value: string, of: string}} props */
function Main({ name, value, of }) {
  const kind = kindOf(name, value);
  if (kind === 'picture') return html`<${Picture} source=${value} alt=${`${name} of ${of}`} />`;
  if (kind === 'audio') return html`<${Player} source=${value} title=${`${name} of ${of}`} />`;
  return html`<div class="item-text"><${Value} name=${name} value=${value} /></div>`;
}

/** A picture. An <img> runs no scripts, not even those in an SVG. @param {{source: string, alt: string}} props */
function Picture({ source, alt }) {
  const [size, setSize] = useState('');
  const [broken, setBroken] = useState(false);
  if (broken) return html`<${NotShown} what="picture" source=${source} />`;
  const loaded = (/** @type {EventOn<HTMLImageElement>} */ { currentTarget: { naturalWidth, naturalHeight } }) =>
    setSize(Math.max(naturalWidth, naturalHeight) < SMALL_PICTURE ? 'small' : '');
  return html`<div class="picture">
    <img class=${size} src=${source} alt=${alt} decoding="sync" onLoad=${loaded} onError=${() => setBroken(true)} />
  </div>`;
}

/** Audio, fetched when somebody plays it. @param {{source: string, title: string}} props */
function Player({ source, title }) {
  const [broken, setBroken] = useState(false);
  if (broken) return html`<${NotShown} what="recording" source=${source} />`;
  return html`<audio class="player" controls preload="none" src=${source} aria-label=${title}
    onError=${() => setBroken(true)}></audio>`;
}

/** @param {{what: string, source: string}} props */
function NotShown({ what, source }) {
  const address = source.startsWith('data:') ? null : html` <${Text} value=${source} />`;
  return html`<p class="quiet-text">A ${what} that cannot be shown.${address}</p>`;
}

/** @param {{name: string, value: unknown}} props */
function Value({ name, value }) {
  if (typeof value === 'string') {
    const laidOut = jsonLaidOut(value);
    if (laidOut === null && !CODE.test(name)) return html`<${Text} value=${value} formatted />`;
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
