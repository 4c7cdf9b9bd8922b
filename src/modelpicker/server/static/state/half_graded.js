/** Grades of items that are not graded whole yet: they are saved in this tab, so that a reload does not lose them. */

import { readValue, writeValue } from './browser_storage.js';

const MOST_ITEMS = 20;

/**
 * @typedef {import('./judgement.js').Judgement} Judgement
 * @typedef {{id: number, grades: [Name, number][]}} HalfGraded `grades` by answer: the next lease may have another order
 */

/** @param {string} campaign @returns {HalfGraded[]} */
const saved = (campaign) => readValue(sessionStorage, `half-graded:${campaign}`, []);

/** @param {string} campaign @param {HalfGraded[]} items */
const save = (campaign, items) => (
  writeValue(sessionStorage, `half-graded:${campaign}`, items.length ? items.slice(-MOST_ITEMS) : undefined));

/** The same judgement with the grades that were saved. @param {string} campaign @param {Judgement} judgement @returns {Judgement} */
export function resumed(campaign, judgement) {
  const found = new Map(saved(campaign).find(({ id }) => id === judgement.id)?.grades);
  const grades = judgement.answers.map((answer) => found.get(answer) ?? null);
  const place = grades.indexOf(null);
  return place < 0 ? judgement : { ...judgement, grades, place };
}

/** Save the grades that an item has so far. @param {string} campaign @param {Judgement} judgement */
export function keepGrades(campaign, { id, answers, grades }) {
  const pairs = /** @type {[Name, number][]} */ (
    answers.map((answer, place) => [answer, grades[place]]).filter(([, grade]) => grade !== null));
  const others = saved(campaign).filter((one) => one.id !== id);
  save(campaign, pairs.length ? [...others, { id, grades: pairs }] : others);
}

/** The item is answered. @param {string} campaign @param {number} id */
export function forgetGrades(campaign, id) {
  save(campaign, saved(campaign).filter((one) => one.id !== id));
}
