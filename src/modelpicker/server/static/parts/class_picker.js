/** Choosing a class: buttons for few classes, a search box for many. */

import { text } from '../lib/format.js';
import { html, useRef } from '../lib/html.js';
import { RECENT_SLOTS } from '../state/recent_classes.js';
import { ClassSearch } from './class_search.js';
import { useKeyboardShortcuts } from './keyboard_shortcuts.js';

const MOST_BUTTONS = 12;
const DIGITS = '1234567890';

/** @param {Name} name */
const isNumber = (name) => /^\d+$/.test(String(name));
/** @param {Name} name */
const isDigit = (name) => /^\d$/.test(String(name));

/**
 * The class that each digit key stands for. If the classes are numbers, a digit stands for the class of that number.
 * @param {Name[]} classes
 * @returns {Map<string, Name>} by digit
 */
export function digitKeys(classes) {
  const numbers = classes.length > 0 && classes.every(isNumber);
  if (numbers) return new Map(classes.filter(isDigit).map((name) => [String(name), name]));
  return new Map(classes.slice(0, DIGITS.length).map((name, place) => [DIGITS[place], name]));
}

/**
 * With many classes, those that models gave for this item come first, then those that were used before.
 * @param {{classes: Name[], candidates: Name[]|null, open: boolean, recent: Name[], refresh: () => void,
 *          choose: Choose}} props `candidates`: as the server shuffled them
 */
export function ClassPicker({ classes, candidates: said, open, recent, refresh, choose }) {
  const many = classes.length > MOST_BUTTONS;
  const candidates = many ? said ?? [] : [];
  const used = recent.filter((name) => !candidates.includes(name));
  const quick = many ? [...candidates, ...used].slice(0, RECENT_SLOTS) : classes;
  const digits = many && classes.every(isNumber) ? new Map() : digitKeys(quick);
  /** @type {{current: HTMLElement}} */
  const box = useRef(null);
  /** @type {(name: Name) => (event: UIEvent) => void} */
  const chosen = (name) => (event) => choose(name, event);
  const keys = Object.fromEntries([...digits].map(([digit, name]) => [digit, chosen(name)]));
  useKeyboardShortcuts({ ...keys, '/': () => box.current?.focus() });
  const kind = `classes${!many && classes.every(isDigit) ? ' digits' : ''}${many ? ' many' : ''}`;
  return html`<div class=${kind}>
    ${(many || quick.length > 0) && html`<div class="class-buttons" role="group"
        aria-label=${many ? 'Candidates for this item, then classes used before' : 'Classes'}>
      ${quick.map((name) => html`<${ClassButton} key=${`${typeof name} ${name}`} name=${name}
        used=${many && !candidates.includes(name)} digit=${[...digits].find(([, other]) => other === name)?.[0]}
        choose=${choose} />`)}
    </div>`}
    ${(many || open) && html`<${ClassSearch} ...${{ classes, open, many, box, refresh, choose }} />`}
  </div>`;
}

/** A name that may continue in a new line after a mark, and not in the middle of a word. @param {string} name */
const breakable = (name) => name.split(/(?<=[_/.:-])/).map((part, place) => [place > 0 && html`<wbr />`, part]);

/** @param {{name: Name, used: boolean, digit?: string, choose: Choose}} props `used`: no candidate, but used before */
function ClassButton({ name, used, digit, choose }) {
  const told = digit !== undefined && digit !== String(name); // the button "7" need not say that its key is 7
  return html`<button type="button" class=${used ? 'class-button used' : 'class-button'} aria-keyshortcuts=${digit}
      onClick=${(event) => choose(name, event)}>
    <bdi>${breakable(text(name))}</bdi>${told && html`<kbd aria-hidden="true">${digit}</kbd>`}
  </button>`;
}
