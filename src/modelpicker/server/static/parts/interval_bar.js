/** A small bar for a gap: a dot for the gap, a line for its interval, a tick for the leader. */

import { clampGap } from '../lib/format.js';
import { html } from '../lib/html.js';

/** @typedef {{low: number|null, gap: number|null, high: number|null}} Interval */

/** The range of values that the bars of these rows share. @param {Interval[]} rows */
export function scaleOf(rows) {
  const ends = rows.slice(1).flatMap(({ low, gap, high }) => [low, gap, high])
    .filter((end) => end !== null).map(clampGap);
  const from = Math.min(0, ...ends);
  const to = Math.max(0.01, ...ends);
  return { from, width: to - from };
}

/**
 * @param {{row: Interval, scale: {from: number, width: number}, first: boolean}} props
 *   `first`: the others are compared with this row, so it has no interval
 */
export function IntervalBar({ row, scale, first }) {
  const place = (/** @type {number} */ value) => `${(100 * (value - scale.from)) / scale.width}%`;
  const share = (/** @type {number} */ value) => `${(100 * value) / scale.width}%`;
  const line = row.low === null || row.high === null || first
    ? null
    : { left: place(clampGap(row.low)), width: share(clampGap(row.high) - clampGap(row.low)) };
  return html`<span class="interval" aria-hidden="true">
    <span class="interval-zero" style=${{ left: place(0) }}></span>
    ${line && html`<span class="interval-line" style=${line}></span>`}
    ${row.gap !== null && html`<span class="interval-dot" style=${{ left: place(clampGap(row.gap)) }}></span>`}
  </span>`;
}
