/** The owner says what the label of an item is: a class, grades, or which answer is better. */

import { text } from '../lib/format.js';
import { html, useId, useState } from '../lib/html.js';
import { api } from '../state/api.js';
import { ALL_WRONG, gradeOf, gradeText, MOST_STARS, preferenceOf } from '../state/judgement.js';
import { gradeBy, isDocument } from './label_words.js';

/**
 * @typedef {{campaign: string, vocabulary: Api.Classes, askFor: Api.Leased['ask_for'], changed: () => void}} Context
 * @typedef {{row: Api.LabelRow, context: Context, done: () => void}} Props
 * @typedef {{save: (label: Answer) => void, error: Error|null, done: () => void}} Saving
 */

const LONGEST = 120; // characters of an answer in a list of choices

/** @param {Name} answer */
const short = (answer) => (text(answer).length > LONGEST ? `${text(answer).slice(0, LONGEST)}…` : text(answer));

/** @param {Props} props */
export function Correct({ row, context, done }) {
  const [error, setError] = useState(/** @type {Error|null} */ (null));
  const save = (/** @type {Answer} */ label) => {
    api.label(context.campaign, { id: row.id, label, replace: true }).then(() => { done(); context.changed(); }, setError);
  };
  if (context.askFor === 'grades') return html`<${Grades} ...${{ row, save, error, done }} />`;
  if (context.askFor === 'preference') return html`<${Preference} ...${{ row, save, error, done }} />`;
  return html`<${Class} ...${{ row, vocabulary: context.vocabulary, save, error, done }} />`;
}

/** What went wrong, and the buttons. @param {{error: Error|null, ready: boolean, done: () => void, children?: object}} props */
const End = ({ error, ready, done, children }) => html`<p class="form-error" role="alert">${error?.message}</p>
  <p class="actions"><button class="primary" disabled=${!ready}>Save</button>${children}
    <button type="button" onClick=${done}>Cancel</button></p>`;

/** @param {{row: Api.LabelRow, vocabulary: Api.Classes} & Saving} props */
function Class({ row, vocabulary, save, error, done }) {
  const [typed, setTyped] = useState(row.label === null || isDocument(row.label) ? '' : String(row.label));
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    save(vocabulary.classes.find((one) => String(one) === typed) ?? typed);
  };
  const id = `correct-${row.id}`;
  const options = vocabulary.classes.map((one) => html`<option key=${String(one)} value=${String(one)}>${String(one)}</option>`);
  return html`<form class="correct" onSubmit=${submit}>
    <label for=${id}>Right class</label>
    ${vocabulary.open
      ? html`<input id=${id} list=${`${id}-list`} value=${typed} required onInput=${(event) => setTyped(event.currentTarget.value)} />
          <datalist id=${`${id}-list`}>${options}</datalist>`
      : html`<select id=${id} value=${typed} required onChange=${(event) => setTyped(event.currentTarget.value)}>
          <option value="" disabled>choose</option>${options}</select>`}
    <${End} ready=${typed !== ''} ...${{ error, done }} />
  </form>`;
}

const STARS = Array.from({ length: MOST_STARS + 1 }, (_, stars) => gradeOf(stars));

/** A grade for each different answer. @param {{row: Api.LabelRow} & Saving} props */
function Grades({ row, save, error, done }) {
  const answers = [...new Set(row.predictions.map(([, said]) => said))].filter((said) => said !== null);
  const [grades, setGrades] = useState(() => answers.map((answer) => gradeBy(row.label, answer)));
  const id = useId();
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    save({ kind: 'grades', grades: answers.map((answer, place) => [answer, Number(grades[place])]), otherwise: null });
  };
  const set = (/** @type {number} */ place) => (/** @type {EventOn<HTMLSelectElement>} */ event) => (
    setGrades(grades.with(place, Number(event.currentTarget.value))));
  return html`<form class="correct" onSubmit=${submit}>
    ${answers.map((answer, place) => {
      const grade = grades[place];
      const known = grade === null || STARS.includes(grade) ? STARS : [...STARS, grade];
      return html`<div key=${place} class="correct-grade">
        <label for=${`${id}-${place}`} dir="auto">${short(answer)}</label>
        <select id=${`${id}-${place}`} value=${grade === null ? '' : String(grade)} required onChange=${set(place)}>
          <option value="" disabled>choose</option>
          ${known.map((one) => html`<option key=${one} value=${String(one)}>${gradeText(one)}</option>`)}</select></div>`;
    })}
    <${End} ready=${answers.length > 0 && !grades.includes(null)} ...${{ error, done }}>
      <button type="button" onClick=${() => save(ALL_WRONG)}>All wrong</button><//>
  </form>`;
}

/** Which of the two answers that were compared is better. @param {{row: Api.LabelRow} & Saving} props */
function Preference({ row: { id, label }, save, error, done }) {
  const pair = isDocument(label) ? label.grades : [];
  const [better, setBetter] = useState(() => String(pair.findIndex(([, grade]) => grade === 1)));
  if (pair.length !== 2) {
    return html`<p class="quiet-text">No two answers of this item were compared, so there is nothing to correct.</p>
      <p class="actions"><button type="button" onClick=${done}>Close</button></p>`;
  }
  const answers = pair.map(([answer]) => answer);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    save(preferenceOf(answers, better === '-1' ? null : better === '0' ? 0 : 1));
  };
  return html`<form class="correct" onSubmit=${submit}>
    <label for=${`correct-${id}`}>Better is</label>
    <select id=${`correct-${id}`} value=${better} onChange=${(event) => setBetter(event.currentTarget.value)}>
      <option value="0">${short(answers[0])}</option><option value="1">${short(answers[1])}</option>
      <option value="-1">neither: they are equal</option></select>
    <${End} ready ...${{ error, done }} />
  </form>`;
}
