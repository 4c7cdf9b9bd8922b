/** The answers to an item as cards, without the models that gave them, and how two of them differ. */

import { text } from '../lib/format.js';
import { diff } from '../lib/diff.js';
import { html, useLayoutEffect, useMemo, useRef } from '../lib/html.js';
import { gradeText } from '../state/judgement.js';
import { Text } from './text.js';

/**
 * @typedef {import('../state/judgement.js').Judgement} Judgement
 * @typedef {import('../lib/diff.js').Part} Part
 */

/** The answers to grade. The current one is marked. @param {{judgement: Judgement, other: number|null, choose: (place: number) => void}} props */
export function GradeCards({ judgement: { id, answers, grades, place }, other, choose }) {
  return html`<ol class="answers" aria-label="Answers to grade">
    ${answers.map((answer, here) => html`<${AnswerCard} key=${`${id} ${here}`} answer=${answer} number=${here + 1}
      current=${here === place} grade=${grades[here]} choose=${() => choose(here)}
      parts=${here === place && other !== null ? [text(answers[other]), text(answer)] : null}
      told=${here === place && other !== null ? `Compared with answer ${other + 1}:` : ''} />`)}
  </ol>`;
}

/** The two answers to compare, side by side where there is room. @param {{judgement: Judgement, compared: boolean}} props */
export function PairCards({ judgement: { id, answers }, compared }) {
  const texts = answers.map(text);
  return html`<ol class="answers pair" aria-label="Answers to compare">
    ${answers.map((answer, here) => html`<${AnswerCard} key=${`${id} ${here}`} answer=${answer} number=${here + 1}
      parts=${compared ? [texts[1 - here], texts[here]] : null} own />`)}
  </ol>`;
}

/**
 * One answer. If it is long, it scrolls inside its card.
 * @param {{answer: Name, number: number, current?: boolean, grade?: number|null, choose?: () => void,
 *          parts: [string, string]|null, told?: string, own?: boolean}} props
 *   `parts`: another text and this one, to be compared; `own`: of both, only what this one has is shown
 */
function AnswerCard({ answer, number, current = false, grade = null, choose, parts, told = '', own = false }) {
  /** @type {{current: HTMLElement}} */
  const card = useRef(null);
  useLayoutEffect(() => {
    if (current) card.current.scrollIntoView({ block: 'nearest' });
  }, [current, told]);
  const name = html`<span class="sr-only">Answer </span>${number}`;
  return html`<li ref=${card} onClick=${choose} class=${`answer${current ? ' current' : ''}${grade === null ? '' : ' graded'}`}>
    ${choose ? html`<button type="button" class="answer-number" aria-current=${current ? 'true' : undefined} onClick=${choose}>${name}</button>`
      : html`<span class="answer-number">${name}</span>`}
    <div class="answer-text" tabindex="0" role="group" aria-label=${`Text of answer ${number}`}>
      ${parts ? html`<${Compared} first=${parts[0]} second=${parts[1]} told=${told} own=${own} />`
        : html`<${Text} value=${text(answer)} formatted />`}
    </div>
    ${grade !== null && html`<span class=${`grade ${gradeClass(grade)}`}>${gradeText(grade)}</span>`}
  </li>`;
}

/** @param {number} grade */
const gradeClass = (grade) => (grade === 1 ? 'good' : grade === 0 ? 'bad' : '');

/**
 * A text with the words marked that the other one does not have; and, unless only its own are wanted, those that only
 * the other has.
 * @param {{first: string, second: string, told: string, own: boolean}} props
 */
function Compared({ first, second, told, own }) {
  const parts = useMemo(() => diff(first, second), [first, second]);
  const shown = own ? parts.filter(({ kind }) => kind !== 'first') : parts;
  return html`${told && html`<p class="quiet-text">${told} <ins>only here</ins> <del>only there</del></p>`}
    <div class="text compared" dir="auto">${shown.map(marked)}</div>`;
}

/** @param {Part} part */
function marked({ kind, text: words }) {
  return kind === 'same' ? words : kind === 'first' ? html`<del>${words}</del>` : html`<ins>${words}</ins>`;
}
