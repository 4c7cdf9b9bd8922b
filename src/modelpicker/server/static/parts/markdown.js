/**
 * Markdown for people who read it, and never for a browser: everything becomes text in elements that are made here.
 * There is no HTML in it. The rules are strict, so that ordinary text stays as it is: `snake_case`, `__init__`,
 * `2 * 3 * 4` and a single line that begins with "- " are no markup. Each character is looked at a few times at most, whatever comes.
 */

import { html } from '../lib/html.js';

const LONGEST = 100_000; // characters; a longer text is shown as it is
const LONGEST_RULE = 1_000; // characters of the line below the head of a table
const DEEPEST = 4; // quotes in quotes
const FENCE = /^ {0,3}(`{3,}|~{3,})[^`]*$/;
const HEADING = /^(#{1,6}) +([^\s\p{Ll}].*)$/u; // "# of items" is none
const POINT = /^( {0,12})([-*+]|\d{1,6}[.)]) +(\S.*)$/;
const QUOTE = /^ {0,3}>(?: (.*))?$/; // ">>> 1 + 1" is none
const TABLE_RULE = /^ *\|?(?: *:?-+:? *\|)+(?: *:?-+:? *)?$/;
const BEGIN = '(?=[\\p{L}\\p{N}"“(`[])'; // emphasis begins with a word: "*_*" is a face
const END = '(?![\\p{L}\\p{N}_*])';
// What begins with one of these may be markup. No alternative can look further than the next mark of its kind.
const INLINE = new RegExp([
  '`([^`\\n]{1,1000})`',
  '\\[([^[\\]\\n]{1,500})\\]\\((https?://[^\\s()<>]{1,2000})\\)',
  ...['\\*\\*\\*', '\\*\\*'].map((mark) => `${mark}(?!\\s)([^*\\n]{1,1000})(?<!\\s)${mark}${END}`),
  `\\*${BEGIN}([^*\\n]{1,1000})(?<!\\s)\\*${END}`,
  `_${BEGIN}([^_\\n]{1,1000})(?<!\\s)_${END}`,
  '(https?://[^\\s<>"\'`\\]\\)]{1,2000}(?<![.,;:!?*_]))',
].join('|'), 'uy');
const WORD = /[\p{L}\p{N}_*\\]/u;

/**
 * A text with its markup, or null if it has none and is best shown as it is.
 * @param {string} source @returns {object[]|null}
 */
export function markdown(source) {
  if (source.length > LONGEST) return null;
  const found = blocks(source.split(/\r\n?|\n/), DEEPEST);
  return found.every(({ plain }) => plain) ? null : found.map(({ made }) => made);
}

/** @typedef {{made: object, plain?: boolean, next?: number}} Block `plain`: no markup; `next`: the line after it */

/**
 * The blocks of some lines. What is no block of its own is a paragraph, with its line breaks and empty lines.
 * @param {string[]} lines @param {number} deep how many quotes there may be in it @returns {Block[]}
 */
function blocks(lines, deep) {
  /** @type {Block[]} */
  const found = [];
  /** @type {string[]} */
  let open = [];
  const close = () => {
    const first = open.findIndex((line) => line !== '');
    if (first >= 0) found.push(paragraph(open.slice(first, open.findLastIndex((line) => line !== '') + 1).join('\n')));
    open = [];
  };
  for (let at = 0; at < lines.length;) {
    const block = fenced(lines, at) ?? heading(lines, at) ?? table(lines, at) ?? points(lines, at)
      ?? quote(lines, at, deep);
    if (block) {
      close();
      found.push(block);
      at = block.next ?? at + 1;
    } else {
      open.push(lines[at]);
      at += 1;
    }
  }
  close();
  return found;
}

/** @param {string} text @returns {Block} */
function paragraph(text) {
  const parts = inline(text);
  return { made: html`<p dir="auto">${parts}</p>`, plain: parts.length === 1 && typeof parts[0] === 'string' };
}

/** Code between two fences; a fence that is never closed is none. @param {string[]} lines @param {number} at */
function fenced(lines, at) {
  const fence = FENCE.exec(lines[at])?.[1];
  if (!fence || noEnd.get(lines)?.has(fence)) return null;
  let end = at + 1;
  while (end < lines.length && lines[end].trim() !== fence) end += 1;
  if (end === lines.length) {
    noEnd.set(lines, (noEnd.get(lines) ?? new Set()).add(fence)); // not looked for again from each later line
    return null;
  }
  return { made: html`<pre class="code" tabindex="0">${lines.slice(at + 1, end).join('\n')}</pre>`, next: end + 1 };
}

/** Fences without an end, by the lines that they are in. @type {WeakMap<string[], Set<string>>} */
const noEnd = new WeakMap();

/** @param {string[]} lines @param {number} at */
function heading(lines, at) {
  const match = HEADING.exec(lines[at]);
  if (!match) return null;
  return { made: html`<p class=${`heading level-${match[1].length}`} dir="auto">${inline(match[2])}</p>`, next: at + 1 };
}

/**
 * Points, with numbers as they were written. One line alone that begins like a point is none, and so is one with
 * another mark than that above it, unless it is indented.
 * @param {string[]} lines @param {number} at
 */
function points(lines, at) {
  const rows = [];
  let next = at;
  for (let row; next < lines.length && (row = POINT.exec(lines[next])); next += 1) {
    const [first] = rows;
    if (first && row[1].length <= first[1].length && row[2].at(-1) !== first[2].at(-1)) break;
    rows.push(row);
  }
  if (rows.length < 2) return null;
  const made = html`<ul class="points">${rows.map(([, indent, mark, text]) => html`
    <li class=${`indent-${Math.min(4, Math.floor(indent.length / 2))}`} dir="auto">
      <span class="mark">${/^[-*+]$/.test(mark) ? '•' : mark}</span><div>${inline(text)}</div></li>`)}</ul>`;
  return { made, next };
}

/** @param {string[]} lines @param {number} at @param {number} deep */
function quote(lines, at, deep) {
  if (!deep || !QUOTE.test(lines[at])) return null;
  let next = at;
  const inner = [];
  for (let row; next < lines.length && (row = QUOTE.exec(lines[next])); next += 1) inner.push(row[1] ?? '');
  return { made: html`<blockquote>${blocks(inner, deep - 1).map(({ made }) => made)}</blockquote>`, next };
}

/** A head, a rule below it, and rows. @param {string[]} lines @param {number} at */
function table(lines, at) {
  if (!lines[at].includes('|') || (lines[at + 1]?.length ?? 0) > LONGEST_RULE || !TABLE_RULE.test(lines[at + 1] ?? '')) return null;
  const head = cells(lines[at]);
  if (cells(lines[at + 1]).length !== head.length) return null;
  let next = at + 2;
  const rows = [];
  for (; next < lines.length && lines[next].includes('|'); next += 1) rows.push(cells(lines[next]));
  const made = html`<div class="table" tabindex="0" role="group" aria-label="Table"><table>
    <thead><tr>${head.map((cell) => html`<th dir="auto">${inline(cell)}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${head.map((_, place) => html`<td dir="auto">${inline(row[place] ?? '')}</td>`)}</tr>`)}</tbody>
  </table></div>`;
  return { made, next };
}

/** @param {string} line */
const cells = (line) => line.trim().replace(/^\||\|$/g, '').split('|').map((cell) => cell.trim());

/**
 * Text with emphasis, code and links.
 * @param {string} source @param {number} deep how many marks may stand in one another
 * @returns {(string|object)[]}
 */
function inline(source, deep = 3) {
  /** @type {(string|object)[]} */
  const found = [];
  let from = 0;
  const marks = /[`[*_h]/g;
  for (let mark; (mark = marks.exec(source));) {
    const at = mark.index;
    if (at > 0 && '*_h'.includes(mark[0]) && WORD.test(source[at - 1])) continue; // within a word
    INLINE.lastIndex = at;
    const match = INLINE.exec(source);
    if (!match) continue;
    if (at > from) found.push(source.slice(from, at));
    from = at + match[0].length;
    marks.lastIndex = from;
    found.push(element(match, deep));
  }
  if (from < source.length || !found.length) found.push(source.slice(from));
  return found;
}

/** @param {RegExpExecArray} match @param {number} deep */
function element([whole, code, words, target, both, strong, em, em2, address], deep) {
  const inner = (/** @type {string} */ text) => (deep > 1 ? inline(text, deep - 1) : [text]);
  if (code !== undefined) return html`<code>${code}</code>`;
  if (target !== undefined) return link(target, words);
  if (address !== undefined) return link(address, address);
  if (both !== undefined) return html`<strong><em>${inner(both)}</em></strong>`;
  if (strong !== undefined) return html`<strong>${inner(strong)}</strong>`;
  if (em ?? em2) return html`<em>${inner(em ?? em2)}</em>`;
  return whole;
}

/** A link to the web, or only its words if the address is none. @param {string} target @param {string} words */
function link(target, words) {
  try {
    const { href, protocol } = new URL(target);
    if (protocol !== 'https:' && protocol !== 'http:') return words;
    return html`<a href=${href} target="_blank" rel="noreferrer noopener" title=${href}>${words}</a>`;
  } catch {
    return words;
  }
}
