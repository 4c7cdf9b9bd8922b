/** Judging free answers: the state of it, and the buttons and keys for grades and for which of two is better. */

import { html, useMemo, useState } from '../lib/html.js';
import { keepGrades, resumed } from '../state/half_graded.js';
import { ALL_WRONG, back, begin, graded, gradeOf, gradeText, labelOf, MOST_STARS, preferenceOf } from '../state/judgement.js';
import { GradeCards, PairCards } from './answer_cards.js';
import { useKeyboardShortcuts } from './keyboard_shortcuts.js';
import { usePressGuard } from './press_guard.js';

/**
 * @typedef {import('../state/judgement.js').Judgement} Judgement
 * @typedef {{judgement: Judgement, change: (next: Judgement) => void, compared: number, compare: () => void}} Judging
 *   `compared`: 0, or with which of the other answers the current one is compared
 * @typedef {{judging: Judging, may: (event: UIEvent) => boolean, tell: (label: Api.LabelDocument, event: UIEvent) => boolean}} Props
 */

const STARS = Array.from({ length: MOST_STARS + 1 }, (_, stars) => stars);

/**
 * What is said about the item on screen. It starts again with each item, and the comparison ends with it. Grades are saved
 * until the item is answered.
 * @param {string} campaign @param {Api.Waiting|null} query @param {Answer|null} before the label that was just taken back
 * @returns {Judging|null}
 */
export function useJudging(campaign, query, before) {
  const start = useMemo(() => query && (before === null ? resumed(campaign, begin(query)) : begin(query, before)), [query?.id]);
  const [state, setState] = useState(/** @type {Judgement|null} */ (null));
  const [comparison, setComparison] = useState({ id: -1, other: 0 });
  if (!query || !start) return null;
  const judgement = state?.id === query.id ? state : start;
  const compared = comparison.id === query.id ? comparison.other : 0;
  const compare = () => setComparison({ id: query.id, other: (compared + 1) % Math.max(1, judgement.answers.length) });
  const change = (/** @type {Judgement} */ next) => {
    setState(next);
    keepGrades(campaign, next);
  };
  return { judgement, change, compared, compare };
}

/** The answer with which the current one is compared, or null. @param {Judging} judging */
function otherOf({ judgement: { answers, place }, compared }) {
  return compared === 0 ? null : answers.map((_, here) => here).filter((here) => here !== place)[compared - 1] ?? null;
}

/** The answers as cards. @param {{kind: string, judging: Judging}} props */
export function Answers({ kind, judging }) {
  const { judgement, change, compared } = judging;
  if (kind === 'preference') return html`<${PairCards} judgement=${judgement} compared=${compared > 0} />`;
  return html`<${GradeCards} judgement=${judgement} other=${otherOf(judging)}
    choose=${(place) => change({ ...judgement, place })} />`;
}

/** What the item is given: a grade for the current answer, or which is better. @param {{kind: string} & Props} props */
export const Judge = ({ kind, ...rest }) => (
  kind === 'preference' ? html`<${Prefer} ...${rest} />` : html`<${Grade} ...${rest} />`);

/** One press grades the current answer; the last one sends all grades. @param {Props} props */
function Grade({ judging: { judgement, change }, may, tell }) {
  const { place, grades, answers } = judgement;
  const mayGrade = usePressGuard(place); // keys may be as fast as one types, but a double click grades one answer
  const give = (/** @type {number} */ stars) => (/** @type {UIEvent} */ event) => {
    if (!may(event) || (event.detail > 1 && !mayGrade(event))) return;
    const next = graded(judgement, gradeOf(stars));
    const label = labelOf(next);
    if (label) tell(label, event);
    else change(next);
  };
  const keys = Object.fromEntries(STARS.map((stars) => [String(stars), give(stars)]));
  useKeyboardShortcuts({ ...keys, y: give(MOST_STARS), n: give(0) });
  return html`<div class="grade-buttons" role="group" aria-label=${`Grade of answer ${place + 1} of ${answers.length}`}>
    ${STARS.map((stars) => html`<${GradeButton} key=${stars} stars=${stars} pressed=${grades[place] === gradeOf(stars)} give=${give(stars)} />`)}
  </div>`;
}

/** @param {{stars: number, pressed: boolean, give: (event: UIEvent) => void}} props */
function GradeButton({ stars, pressed, give }) {
  const key = stars === 0 ? 'n' : stars === MOST_STARS ? 'y' : String(stars);
  const word = gradeText(gradeOf(stars));
  const looks = stars === 0 ? 'Wrong' : stars === MOST_STARS ? 'Right' : html`${stars}<span aria-hidden="true"> ★</span>`;
  return html`<button type="button" class="class-button" aria-label=${word} aria-pressed=${pressed} title=${`${word}: ${stars} of ${MOST_STARS}`}
      aria-keyshortcuts=${key === String(stars) ? key : `${key} ${stars}`} onClick=${give}>
    ${looks}${key !== String(stars) && html`<kbd aria-hidden="true">${key}</kbd>`}
  </button>`;
}

/** @param {Props} props */
function Prefer({ judging: { judgement: { answers } }, tell }) {
  const prefer = (/** @type {0|1|null} */ better) => (/** @type {UIEvent} */ event) => tell(preferenceOf(answers, better), event);
  useKeyboardShortcuts({ 1: prefer(0), 2: prefer(1), '=': prefer(null) });
  return html`<div class="prefer-buttons" role="group" aria-label="Which answer is better?">
    <button type="button" class="class-button" aria-keyshortcuts="1" onClick=${prefer(0)}>1 is better <kbd aria-hidden="true">1</kbd></button>
    <button type="button" class="class-button" aria-keyshortcuts="=" onClick=${prefer(null)}>Equal <kbd aria-hidden="true">=</kbd></button>
    <button type="button" class="class-button" aria-keyshortcuts="2" onClick=${prefer(1)}>2 is better <kbd aria-hidden="true">2</kbd></button>
  </div>`;
}

/** What else can be done with answers. @param {{kind: string, judging: Judging, tell: Props['tell']}} props */
export function JudgeActions({ kind, judging: { judgement, change, compared, compare }, tell }) {
  const grades = kind === 'grades';
  const several = judgement.answers.length > 1;
  const goBack = () => change(back(judgement));
  const allWrong = (/** @type {UIEvent} */ event) => tell(ALL_WRONG, event);
  useKeyboardShortcuts({ ...(grades ? { w: allWrong, Backspace: goBack } : {}), ...(several ? { d: compare } : {}) });
  return html`
    ${grades && html`<button type="button" aria-keyshortcuts="w" onClick=${allWrong}>All wrong <kbd aria-hidden="true">w</kbd></button>
      <button type="button" aria-keyshortcuts="Backspace" disabled=${judgement.place === 0} onClick=${goBack}>Back <kbd aria-hidden="true">⌫</kbd></button>`}
    <button type="button" aria-pressed=${compared > 0} aria-keyshortcuts="d" disabled=${!several} onClick=${compare}>Compare <kbd aria-hidden="true">d</kbd></button>`;
}

/** What is asked now, in words, and whether a part of it is answered. @param {string} kind @param {Judging|null} judging */
export function nowAsked(kind, judging) {
  if (kind === 'class') return { asked: 'Which class is it?', started: false };
  if (kind === 'preference' || !judging) return { asked: 'Which answer is better?', started: false };
  const { place, answers, grades } = judging.judgement;
  const given = place > 0 ? grades[place - 1] : null;
  const before = given === null ? '' : `Answer ${place}: ${gradeText(given)}. `;
  return { asked: `${before}How good is answer ${place + 1} of ${answers.length}?`, started: grades.some((grade) => grade !== null) };
}
