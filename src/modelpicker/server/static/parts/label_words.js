/** A label as people read it. Answers may be long: they are listed, each with its grade. */

import { labelText, text } from '../lib/format.js';
import { html } from '../lib/html.js';
import { gradeText } from '../state/judgement.js';

/** Whether a label is more than one class. @param {Answer|null} label @returns {label is Api.LabelDocument} */
export const isDocument = (label) => label !== null && typeof label === 'object';

/** The grade that a label gives to an answer; null if it says nothing about it. @param {Answer|null} label @param {Name|null} answer */
export function gradeBy(label, answer) {
  if (label === null || answer === null) return null;
  if (!isDocument(label)) return Number(answer === label);
  return label.grades.find(([one]) => one === answer)?.[1] ?? label.otherwise ?? null;
}

const TITLES = { classes: 'several classes', grades: 'graded', preference: 'compared' };

/** A label in a word or two. @param {Api.LabelDocument} label */
export const titleOf = ({ kind, grades }) => (grades.length ? TITLES[kind] : 'all wrong');

/** A grade of one answer, as its label means it. @param {Api.LabelDocument['kind']} kind @param {number} grade */
function wordOf(kind, grade) {
  if (kind !== 'preference') return gradeText(grade);
  return grade === 0.5 ? 'equal' : grade ? 'better' : 'worse';
}

/** @param {{label: Answer}} props */
export function LabelWords({ label }) {
  if (!isDocument(label) || !label.grades.length) return html`<bdi>${labelText(label)}</bdi>`;
  const { kind, grades } = label;
  return html`<ul class="graded-list">${grades.toSorted(([, one], [, two]) => two - one).map(([answer, grade]) => html`
    <li key=${`${typeof answer} ${answer}`}><span class=${`grade ${grade === 1 ? 'good' : grade === 0 ? 'bad' : ''}`}>${wordOf(kind, grade)}</span>
      <bdi title=${text(answer)}>${text(answer)}</bdi></li>`)}</ul>`;
}
