/** The standing in sentences. */

import { count, number, points, several, text } from '../lib/format.js';
import { isOver } from './state_badge.js';

const ROUGHLY = 'By rough 95 % intervals,';

/** Which model leads, by how much, and after how many labels. @param {Api.StandingDocument} standing */
export function headline(standing) {
  const { standing: rows, tied, labels_used: labels, rounds, covered, weighted, state } = standing;
  const part = weighted && covered < rounds ? `${number(covered)} of ` : '';
  const grounds = `after ${count(labels, 'label')} on ${part}${count(rounds, 'item')}`;
  if (!rows.length) return 'This campaign has no models.';
  if (labels === 0) return `${isOver(state) ? 'No label is needed' : 'No labels yet'}: all ${number(rows.length)} models are level.`;
  if (tied.length > 1) return `${several(rows.slice(0, tied.length).map((row) => text(row.model)))} are level ${grounds}.`;
  if (rows.length === 1 || !weighted || rows[1].gap === null) return `${text(rows[0].model)} leads ${grounds}.`;
  return `${text(rows[0].model)} leads, ${points(rows[1].gap)} ahead of ${text(rows[1].model)}, ${grounds}.`;
}

/**
 * How certain the leader is, by the rough intervals; null if there are none. On a pool the certificate says all that is
 * proved, and the intervals are that proof.
 * @param {Api.StandingDocument} standing
 */
export function certainty({ standing: rows, tied, labels_used: labels, weighted, certificate }) {
  if (certificate.kind === 'pool') return null;
  const others = rows.slice(1).filter((row) => row.low !== null && row.high !== null);
  if (!weighted || labels === 0 || !others.length) return null;
  const level = others.filter((row) => row.low !== null && row.low <= 0).length;
  if (tied.length > 1) return `${ROUGHLY} ${number(level + 1)} of ${count(rows.length, 'model')} may be the best.`;
  if (level === 0) return `${ROUGHLY} every other model is behind it.`;
  if (others.length === 1) return `${ROUGHLY} the other model may still be as good.`;
  return `${ROUGHLY} ${number(level)} of ${count(others.length, 'other model')} may still be as good.`;
}

/** Which items the gaps do not cover, and why; null if they cover all. @param {Api.StandingDocument} standing */
export function leftOut({ rounds, covered, labels_used: labels, weighted, pending, skipped, budget, state }) {
  if (!weighted || labels === 0 || covered >= rounds) return null;
  const reasons = [
    pending > 0 && 'the labels that stand for them are awaited',
    skipped > 0 && 'the labels that stand for them were skipped',
    budget !== null && labels >= budget && 'they came after the budget was spent',
    state.name === 'won' && 'they came after the race was won',
  ].filter(Boolean);
  const why = reasons.length ? `: ${reasons.join(', or ')}` : '';
  return `Gaps are about ${number(covered)} of ${count(rounds, 'item')}. The others are left out${why}.`;
}
