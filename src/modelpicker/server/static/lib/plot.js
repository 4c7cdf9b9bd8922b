/** The geometry of charts: scales, ticks, paths, and names that do not overlap. */

/** @typedef {(number|null)[]} Values */

/**
 * A scale from values to pixels.
 * @param {number} from @param {number} to @param {number} start in pixels @param {number} end in pixels
 */
export function linear(from, to, start, end) {
  const factor = to > from ? (end - start) / (to - from) : 0;
  return (/** @type {number} */ value) => start + (value - from) * factor;
}

/**
 * Round numbers that divide a range: steps of 1, 2 or 5 times a power of ten.
 * @param {number} from @param {number} to @param {number} most how many steps at most
 * @param {number} least the smallest step
 */
export function ticks(from, to, most, least = 0) {
  const rough = Math.max((to - from) / Math.max(1, most), least, Number.MIN_VALUE);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((part) => part * power).find((one) => one >= rough * 0.999) ?? rough;
  const found = [];
  for (let place = Math.ceil(from / step - 1e-9); place * step <= to + step * 1e-9; place += 1) {
    found.push(Number((place * step).toPrecision(12)));
  }
  return found;
}

/**
 * A line through the points that there are; it is broken where there are none.
 * @param {number[]} xs in pixels @param {Values} ys in pixels
 */
export function path(xs, ys) {
  let drawing = false;
  const parts = [];
  for (const [place, y] of ys.entries()) {
    if (y !== null) parts.push(`${drawing ? 'L' : 'M'}${xs[place].toFixed(1)} ${y.toFixed(1)}`);
    drawing = y !== null;
  }
  return parts.join('');
}

/** The place of the last value that is there; -1 if there is none. @param {Values} values */
export const lastPlace = (values) => values.findLastIndex((value) => value !== null);

/**
 * Where names go that want to be at some heights: as near as possible, in the same order, and never closer than `gap`.
 * @param {number[]} wanted @param {number} gap @param {number} top @param {number} bottom
 */
export function spread(wanted, gap, top, bottom) {
  const order = wanted.map((_, place) => place).sort((one, other) => wanted[one] - wanted[other] || one - other);
  const room = Math.min(gap, (bottom - top) / Math.max(1, wanted.length - 1));
  const found = wanted.map(() => 0);
  let above = top - room;
  for (const place of order) above = found[place] = Math.max(wanted[place], above + room);
  let below = bottom + room;
  for (const place of order.reverse()) below = found[place] = Math.min(found[place], below - room);
  return found;
}

/** The place of the value that is nearest to a wanted one, in values that grow. @param {number[]} xs @param {number} wanted */
export function nearest(xs, wanted) {
  let best = 0;
  for (const [place, x] of xs.entries()) if (Math.abs(x - wanted) < Math.abs(xs[best] - wanted)) best = place;
  return best;
}
