/** How two texts differ, word by word. Both are only compared here: what is shown stays text. */

const MOST_CELLS = 4_000_000; // words of one text times words of the other; beyond that, lines are compared
// A word, a letter of a script that has no spaces, a run of spaces, or any other mark.
const WORDS = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[\p{L}\p{M}\p{N}_]+|\s+|[^\s]/gu;
const LINES = /[^\n]*\n|[^\n]+/g;

/** @typedef {{kind: 'same'|'first'|'second', text: string}} Part `first`: only the first text has it */

/**
 * The parts that two texts share, and those that only one of them has, in order.
 * @param {string} first @param {string} second @returns {Part[]}
 */
export function diff(first, second) {
  for (const pattern of [WORDS, LINES]) {
    const one = first.match(pattern) ?? [];
    const two = second.match(pattern) ?? [];
    const start = commonStart(one, two);
    const end = commonStart(one.slice(start).reverse(), two.slice(start).reverse());
    const [left, right] = [one.slice(start, one.length - end), two.slice(start, two.length - end)];
    if (left.length * right.length > MOST_CELLS) continue;
    return joined([...same(one.slice(0, start)), ...middle(left, right), ...same(one.slice(one.length - end))]);
  }
  return joined([{ kind: 'first', text: first }, { kind: 'second', text: second }]);
}

/** How many pieces two lists share at their start. @param {string[]} one @param {string[]} two */
function commonStart(one, two) {
  const found = one.findIndex((piece, place) => piece !== two[place]);
  return found < 0 ? one.length : found;
}

/** @param {string[]} pieces @returns {Part[]} */
const same = (pieces) => pieces.map((text) => ({ kind: 'same', text }));

/** By the longest common subsequence. @param {string[]} one @param {string[]} two @returns {Part[]} */
function middle(one, two) {
  const width = two.length + 1;
  const longest = new Uint32Array((one.length + 1) * width); // of what follows, for each two places
  for (let row = one.length - 1; row >= 0; row -= 1) {
    for (let column = two.length - 1; column >= 0; column -= 1) {
      const here = row * width + column;
      longest[here] = one[row] === two[column] ? longest[here + width + 1] + 1
        : Math.max(longest[here + width], longest[here + 1]);
    }
  }
  /** @type {Part[]} */
  const parts = [];
  let [row, column] = [0, 0];
  while (row < one.length && column < two.length) {
    const here = row * width + column;
    if (one[row] === two[column]) {
      parts.push({ kind: 'same', text: one[row] });
      [row, column] = [row + 1, column + 1];
    } else if (longest[here + width] >= longest[here + 1]) parts.push({ kind: 'first', text: one[row++] });
    else parts.push({ kind: 'second', text: two[column++] });
  }
  for (const text of one.slice(row)) parts.push({ kind: 'first', text });
  for (const text of two.slice(column)) parts.push({ kind: 'second', text });
  return parts;
}

/**
 * Neighbours of one kind as one part. A space between two changes belongs to them: one change is easier to read.
 * @param {Part[]} parts
 */
function joined(parts) {
  /** @type {Record<'first'|'second', string>} */
  let change = { first: '', second: '' };
  /** @type {Part[]} */
  const found = [];
  const flush = () => {
    if (change.first) found.push({ kind: 'first', text: change.first });
    if (change.second) found.push({ kind: 'second', text: change.second });
    change = { first: '', second: '' };
  };
  parts.forEach(({ kind, text }, place) => {
    if (kind !== 'same') {
      change[kind] += text;
    } else if (change.first && change.second && text.trim() === '' && (parts[place + 1]?.kind ?? 'same') !== 'same') {
      change = { first: change.first + text, second: change.second + text };
    } else {
      flush();
      const last = found.at(-1);
      if (last?.kind === 'same') last.text += text;
      else found.push({ kind, text });
    }
  });
  flush();
  return found;
}
