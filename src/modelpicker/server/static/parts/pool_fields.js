/** What is asked of a campaign on a file of items: how certain, how close, and how many labels at most. */

import { lossOf, pointsOf } from '../lib/format.js';
import { html } from '../lib/html.js';
import { Input, Select } from './fields.js';
import { NumberOfEach, numbersOf } from './number_of_each.js';

/**
 * What stands in the form of a pool, as it was typed; empty is the default. `judge` and `slice` are columns of the file;
 * `apart` says how far apart numbers may be that are the same answer.
 * @typedef {{sure: string, close: string, most: string, known: boolean, judge: string, slice: string, people: string,
 *            seed: string, askFor: string, same: string, apart: string, missing: string, loss: string,
 *            weights: Record<string, string>, prices: Record<string, string>, noise: string}} PoolForm
 * @typedef {import('../state/prediction_file.js').PredictionFile} PredictionFile
 */

/** @type {PoolForm} */
export const blankPool = { sure: '', close: '', most: '', known: false, judge: '', slice: '', people: '', seed: '', askFor: 'class', same: 'exact', apart: '', missing: 'abstained', loss: '', weights: {}, prices: {}, noise: '' };

/** @param {{form: PoolForm, source: PredictionFile, set: (change: Partial<PoolForm>) => void}} props */
export function PoolFields({ form, source, set }) {
  const { seen } = source;
  const known = (/** @type {EventOn<HTMLInputElement>} */ event) => set({ known: event.currentTarget.checked });
  return html`${seen && html`<${AnswerFields} ...${{ form, source, set }} />`}
  <div class="three">
    <${Input} label="How certain (%)" hint="It stops when this is proven." type="number" min="50" max="99.999" step="any"
      inputmode="decimal" placeholder="95" value=${form.sure} set=${(sure) => set({ sure })} />
    <${Input} label="How close (points)" hint=${`To the best model: 1 point is 1 % ${pointsOf(measuredBy(form, seen))}.`} type="number" min="0"
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
    ${seen && html`<${CostFields} ...${{ form, seen, set }} />`}
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

/** @type {[string, string][]} */
const LOSSES = [['', 'all the same'], ['weights', 'more for some classes'], ['balanced', 'the same for each class, rare or not']];
const MOST_WEIGHTS = 60; // classes that get a field each
const MOST_PRICES = 200;

/** The losses that can be chosen for this file. @param {PoolForm} form @param {Api.FileLook} seen */
function lossesOf({ askFor }, { labelled, answers, classes }) {
  const every = answers === classes.length && answers <= MOST_WEIGHTS;
  const able = { '': true, weights: every, balanced: labelled };
  return askFor === 'class' ? LOSSES.filter(([value]) => able[/** @type {keyof typeof able} */ (value)]) : [];
}

/** What the proof is about. @param {PoolForm} form @param {Api.FileLook|null} seen */
function measuredBy(form, seen) {
  const able = seen && lossesOf(form, seen).some(([value]) => value === form.loss);
  const name = able && { balanced: 'balanced accuracy', weights: 'weighted accuracy' }[form.loss];
  return lossOf(form.askFor, name ? { loss: { name } } : {});
}

/** What mistakes, models and wrong labels cost. @param {{form: PoolForm, seen: Api.FileLook, set: (change: Partial<PoolForm>) => void}} props */
function CostFields({ form, seen, set }) {
  const losses = lossesOf(form, seen);
  const loss = losses.some(([value]) => value === form.loss) ? form.loss : '';
  return html`${losses.length > 1 && html`<${Select} label="What a mistake costs" value=${loss} options=${losses}
      set=${(/** @type {string} */ chosen) => set({ loss: chosen })}
      hint=${loss === 'balanced' ? 'How frequent classes are is taken from the labels in the file.' : 'What is proven is about this.'} />`}
    ${loss === 'weights' && html`<${NumberOfEach} label="Weight of each class" names=${seen.classes} typed=${form.weights} placeholder="1"
      set=${(/** @type {Record<string, string>} */ weights) => set({ weights })}
      hint="5: a mistake on an item of this class costs five times as much." />`}
    ${seen.models.length <= MOST_PRICES && html`<details><summary>Prices of models</summary>
      <${NumberOfEach} label="Price per item" names=${seen.models} typed=${form.prices} placeholder="none"
        set=${(/** @type {Record<string, string>} */ prices) => set({ prices })}
        hint="In any unit, for every model. Then the pick is the cheapest model that is proven to be close enough to the best." /></details>`}
    <${Input} label="Mistakes of people (%)" type="number" min="0" max="49.9" step="any" inputmode="decimal" placeholder="0"
      hint="This many labels may be wrong, at most. What is proven allows for that, and needs more labels." value=${form.noise}
      set=${(/** @type {string} */ noise) => set({ noise })} />`;
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
export function poolOf(form, { columns, seen }) {
  const { sure, close, most, known, judge, slice, people, seed, askFor, same, apart, missing, noise } = form;
  const share = (/** @type {string} */ percent) => (percent === '' ? '' : String(Number(percent) / 100));
  const goal = { confidence: share(sure), tolerance: share(close), budget: most };
  const there = (/** @type {string} */ column) => (columns.some(({ name }) => name === column) ? column : ''); // not of an earlier file
  const asked = { ask_for: askFor === 'class' ? '' : askFor, same: same === 'number' ? apart : same === 'exact' ? '' : same };
  const costs = { ...costsOf(form, seen), label_noise: share(noise) };
  const wanted = { ...goal, ...costs, ...asked, missing: missing === 'abstained' ? '' : missing, use_labels: known ? 'true' : '', judge: there(judge), slice: there(slice), overlap: people, seed };
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== ''));
}

/** What mistakes and models cost, of those in this file. @param {PoolForm} form @param {Api.FileLook|null} seen */
function costsOf(form, seen) {
  if (!seen) return {};
  const loss = lossesOf(form, seen).some(([value]) => value === form.loss) ? form.loss : '';
  return { loss: loss === 'weights' ? numbersOf(form.weights, seen.classes) : loss, price: numbersOf(form.prices, seen.models) };
}
