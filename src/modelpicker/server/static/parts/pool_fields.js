/** What is asked of a campaign on a file of items: how certain, how close, and how many labels at most. */

import { lossOf, pointsOf } from '../lib/format.js';
import { html } from '../lib/html.js';
import { Input, Select } from './fields.js';

/**
 * What stands in the form of a pool, as it was typed; empty is the default. `judge` and `slice` are columns of the file;
 * `apart` says how far apart numbers may be that are the same answer.
 * @typedef {{sure: string, close: string, most: string, known: boolean, judge: string, slice: string, people: string,
 *            seed: string, askFor: string, same: string, apart: string, missing: string}} PoolForm
 * @typedef {import('../state/prediction_file.js').PredictionFile} PredictionFile
 */

/** @type {PoolForm} */
export const blankPool = { sure: '', close: '', most: '', known: false, judge: '', slice: '', people: '', seed: '', askFor: 'class', same: 'exact', apart: '', missing: 'abstained' };

/** @param {{form: PoolForm, source: PredictionFile, set: (change: Partial<PoolForm>) => void}} props */
export function PoolFields({ form, source, set }) {
  const { seen } = source;
  const known = (/** @type {EventOn<HTMLInputElement>} */ event) => set({ known: event.currentTarget.checked });
  return html`${seen && html`<${AnswerFields} ...${{ form, source, set }} />`}
  <div class="three">
    <${Input} label="How certain (%)" hint="It stops when this is proven." type="number" min="50" max="99.999" step="any"
      inputmode="decimal" placeholder="95" value=${form.sure} set=${(sure) => set({ sure })} />
    <${Input} label="How close (points)" hint=${`To the best model: 1 point is 1 % ${pointsOf(lossOf(form.askFor))}.`} type="number" min="0"
      max="99" step="any" inputmode="decimal" placeholder="1" value=${form.close} set=${(close) => set({ close })} />
    <${Input} label="Labels at most" hint="Empty: as many as the proof needs." type="number" min="1" step="1"
      inputmode="numeric" placeholder="no limit" value=${form.most} set=${(most) => set({ most })} />
  </div>
  <details><summary>More</summary>
    ${seen?.labelled && html`<label class="choice">
      <input type="checkbox" checked=${form.known} onChange=${known} />
      The labels in the file are right: use them, and ask only about the rest</label>`}
    ${seen && html`<${ColumnChoice} label="Slices" value=${form.slice} source=${source} set=${(slice) => set({ slice })}
      hint="A column such as a language or a customer: the best model for each of its values is found too." />
    <${ColumnChoice} label="Judge" value=${form.judge} source=${source} set=${(judge) => set({ judge })}
      hint="A column with cheap labels that may be wrong, such as what a language model says. A good judge saves labels. It is not shown to annotators, and what is proven does not depend on it." />`}
    <${Select} label="An empty prediction" value=${form.missing} options=${MISSING} set=${(missing) => set({ missing })}
      hint="A model that was not run is not wrong: the item counts as the worst for it. If it is not run on many items, nothing can be proven." />
    <${Input} label="People per item" type="number" min="0" max="100" step="any" inputmode="decimal" placeholder="1"
      hint="2: two different people label each item. 0.2: two people label a fifth of the items. Each label counts." value=${form.people}
      set=${(people) => set({ people })} />
    <${Input} label="Seed" hint="The same seed and the same answers give the same questions." type="number" min="0"
      step="1" inputmode="numeric" placeholder="0" value=${form.seed} set=${(seed) => set({ seed })} />
  </details>`;
}

/** @type {[string, string][]} */
const ASK_FOR = [['class', 'the class of the item'], ['grades', 'a grade for each different answer'], ['preference', 'which of two answers is better']];
/** @type {[string, string][]} */
const MISSING = [['abstained', 'the model has no answer: wrong'], ['not-run', 'the model was not run: not known']];
/** @type {[string, string][]} */
const SAME = [['exact', 'equal exactly'], ['normalised', 'equal except for capitals and punctuation'],
  ['number', 'numbers that are close']];

/**
 * What people are asked, and which answers of models are the same. The file is read again by that: numbers that are not
 * whole are answers only if they may be close, and labels may be spelt in other ways.
 * @param {{form: PoolForm, source: PredictionFile, set: (change: Partial<PoolForm>) => void}} props
 */
function AnswerFields({ form, source, set }) {
  const alike = (/** @type {string} */ same) => {
    set({ same });
    source.readAs(same === 'number' ? '0' : same);
  };
  return html`<div class="two">
    <${Select} label="Ask for" value=${form.askFor} options=${ASK_FOR} set=${(askFor) => set({ askFor })}
      hint="If models write free text, ask for grades, or which is better." />
    <${Select} label="The same answer" value=${form.same} options=${SAME} set=${alike}
      hint="Answers that are the same are judged once." />
    ${form.same === 'number' && html`<${Input} label="At most this far apart" type="number" min="0" step="any" inputmode="decimal"
      required placeholder="0.01" value=${form.apart} set=${(apart) => set({ apart })} />`}
  </div>`;
}

/**
 * A column of the file that is not a model: the server is asked for a new preview.
 * @param {{label: string, hint: string, value: string, source: PredictionFile, set: SetText}} props
 */
function ColumnChoice({ label, hint, value, source, set }) {
  const columns = source.columns.filter(({ role }) => role !== 'id');
  const choose = (/** @type {string} */ name) => {
    set(name);
    if (name) source.decide(name, 'shown', true);
  };
  return html`<${Select} label=${label} value=${value} set=${choose} hint=${hint}
    options=${[['', 'none'], ...columns.map(({ name }) => [name, name])]} />`;
}

/**
 * What the server is asked for; what is empty is left out.
 * @param {PoolForm} form @param {PredictionFile} source @returns {Record<string, string>}
 */
export function poolOf({ sure, close, most, known, judge, slice, people, seed, askFor, same, apart, missing }, { columns }) {
  const share = (/** @type {string} */ percent) => (percent === '' ? '' : String(Number(percent) / 100));
  const goal = { confidence: share(sure), tolerance: share(close), budget: most };
  const there = (/** @type {string} */ column) => (columns.some(({ name }) => name === column) ? column : ''); // not of an earlier file
  const asked = { ask_for: askFor === 'class' ? '' : askFor, same: same === 'number' ? apart : same === 'exact' ? '' : same };
  const wanted = { ...goal, ...asked, missing: missing === 'abstained' ? '' : missing, use_labels: known ? 'true' : '', judge: there(judge), slice: there(slice), overlap: people, seed };
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== ''));
}
