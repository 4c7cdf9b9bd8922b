/** What is asked of a campaign on a file of items: how sure, how close, and how many labels at most. */

import { html } from '../lib/html.js';
import { Input } from './fields.js';

/**
 * What stands in the form of a pool, as it was typed; empty is the default.
 * @typedef {{sure: string, close: string, most: string, known: boolean, people: string, seed: string}} PoolForm
 */

/** @type {PoolForm} */
export const blankPool = { sure: '', close: '', most: '', known: false, people: '', seed: '' };

/** @param {{form: PoolForm, seen: Api.FileLook|null, set: (change: Partial<PoolForm>) => void}} props */
export function PoolFields({ form, seen, set }) {
  const known = (/** @type {EventOn<HTMLInputElement>} */ event) => set({ known: event.currentTarget.checked });
  return html`<div class="three">
    <${Input} label="How sure (%)" hint="It stops when this is proved." type="number" min="50" max="99.999" step="any"
      inputmode="decimal" placeholder="95" value=${form.sure} set=${(sure) => set({ sure })} />
    <${Input} label="How close (points)" hint="To the best model: 1 point is 1 % of accuracy." type="number" min="0"
      max="99" step="any" inputmode="decimal" placeholder="1" value=${form.close} set=${(close) => set({ close })} />
    <${Input} label="Labels at most" hint="Empty: as many as the proof needs." type="number" min="1" step="1"
      inputmode="numeric" placeholder="no limit" value=${form.most} set=${(most) => set({ most })} />
  </div>
  <details><summary>More</summary>
    ${seen?.labelled && html`<label class="choice">
      <input type="checkbox" checked=${form.known} onChange=${known} />
      The labels in the file are right: use them, and ask only about the rest</label>`}
    <${Input} label="People per item" type="number" min="0" max="100" step="any" inputmode="decimal" placeholder="1"
      hint="2: two different people label each item. 0.2: two people label a fifth of the items. Each label counts." value=${form.people}
      set=${(people) => set({ people })} />
    <${Input} label="Seed" hint="The same seed and the same answers give the same questions." type="number" min="0"
      step="1" inputmode="numeric" placeholder="0" value=${form.seed} set=${(seed) => set({ seed })} />
  </details>`;
}

/** What the server is asked for; what is empty is left out. @param {PoolForm} form @returns {Record<string, string>} */
export function poolOf({ sure, close, most, known, people, seed }) {
  const share = (/** @type {string} */ percent) => (percent === '' ? '' : String(Number(percent) / 100));
  const goal = { confidence: share(sure), tolerance: share(close), budget: most };
  const wanted = { ...goal, use_labels: known ? 'true' : '', overlap: people, seed };
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== ''));
}
