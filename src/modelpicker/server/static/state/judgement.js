/** What somebody has said so far of the answers to an item, and the label that it becomes. */

export const MOST_STARS = 5;

/**
 * @typedef {{id: number, answers: Name[], grades: (number|null)[], place: number}} Judgement
 *   `grades`: one per answer, null if it has none yet; `place`: the answer that is graded next
 */

/**
 * Nothing is said yet. An answer that was taken back comes with its grades: the last one is to be given again.
 * @param {{id: number, candidates: Name[]|null}} query @param {Answer|null} [before] the label that was taken back
 * @returns {Judgement}
 */
export function begin({ id, candidates }, before = null) {
  const answers = candidates ?? [];
  const known = before !== null && typeof before === 'object' && before.kind === 'grades' ? new Map(before.grades) : new Map();
  const grades = answers.map((answer) => known.get(answer) ?? null);
  if (!answers.length || grades.includes(null)) return { id, answers, grades: answers.map(() => null), place: 0 };
  return { id, answers, grades: grades.with(-1, null), place: answers.length - 1 };
}

/** Give the current answer a grade, and continue to the next without one. @param {Judgement} judgement @param {number} grade */
export function graded(judgement, grade) {
  const { grades, place } = judgement;
  const given = grades.with(place, grade);
  const later = given.indexOf(null, place + 1);
  const next = later < 0 ? given.indexOf(null) : later;
  return { ...judgement, grades: given, place: next < 0 ? place : next };
}

/** Go back one answer, and forget its grade. @param {Judgement} judgement */
export function back(judgement) {
  const { grades, place } = judgement;
  return place === 0 ? judgement : { ...judgement, grades: grades.with(place - 1, null), place: place - 1 };
}

/** The label, once every answer has its grade; else null. @param {Judgement} judgement @returns {Api.LabelDocument|null} */
export function labelOf({ answers, grades }) {
  const pairs = /** @type {[Name, number][]} */ (answers.map((answer, place) => [answer, grades[place]]));
  return pairs.length && !grades.includes(null) ? { kind: 'grades', grades: pairs, otherwise: null } : null;
}

/** No answer is right. @type {Api.LabelDocument} */
export const ALL_WRONG = { kind: 'grades', grades: [], otherwise: 0 };

/**
 * Which of two answers is better: 0 or 1, or null if they are equally good.
 * @param {Name[]} answers @param {0|1|null} better @returns {Api.LabelDocument}
 */
export function preferenceOf(answers, better) {
  const grade = (/** @type {number} */ place) => (better === null ? 0.5 : Number(place === better));
  return { kind: 'preference', grades: answers.map((answer, place) => [answer, grade(place)]), otherwise: null };
}

/** What was said about the answers, by their places. @param {Api.LabelDocument} label @param {Name[]} answers */
export function labelWords({ kind, grades }, answers) {
  const given = new Map(grades);
  if (!grades.length) return 'all wrong';
  if (kind === 'grades') return answers.map((answer) => gradeText(given.get(answer) ?? 0)).join(', ');
  const better = answers.findIndex((answer) => given.get(answer) === 1);
  return better < 0 ? 'equal' : `answer ${better + 1} is better`;
}

/** This many stars as a grade: 3 → 0.6 @param {number} stars */
export const gradeOf = (stars) => stars / MOST_STARS;

/** A grade in words: 1 → "right", 0.6 → "3 stars" @param {number} grade */
export function gradeText(grade) {
  if (grade === 0 || grade === 1) return grade ? 'right' : 'wrong';
  const stars = grade * MOST_STARS;
  if (Math.abs(stars - Math.round(stars)) > 1e-9) return String(grade); // not given on this page
  return Math.round(stars) === 1 ? '1 star' : `${Math.round(stars)} stars`;
}
