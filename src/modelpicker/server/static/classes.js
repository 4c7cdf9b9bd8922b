/** How a class is chosen: buttons while they are few, a search box once they are many. */

import { html, useRef, useState } from './html.js';
import { useKeys } from './keys.js';
import { number, text } from './words.js';

const MOST_BUTTONS = 12;
const MOST_MATCHES = 50;
const NONE = -1; // nothing is marked until something is typed or an arrow pressed: Enter alone labels nothing
const DIGITS = '1234567890';

/**
 * The class that each digit key stands for. Where the classes are numbers, a digit means that very class.
 * @param {(string|number)[]} classes
 * @returns {Map<string, string|number>} by digit
 */
export function digitKeys(classes) {
  const numbers = classes.length > 0 && classes.every((name) => /^\d+$/.test(String(name)));
  if (numbers) return new Map(classes.filter((name) => /^\d$/.test(String(name))).map((name) => [String(name), name]));
  return new Map(classes.slice(0, DIGITS.length).map((name, place) => [DIGITS[place], name]));
}

/**
 * @param {{classes: (string|number)[], open: boolean, recent: (string|number)[],
 *          choose: (label: string|number) => void}} props
 */
export function ClassPicker({ classes, open, recent, choose }) {
  const many = classes.length > MOST_BUTTONS;
  const quick = many ? recent : classes;
  const digits = many && classes.every((name) => /^\d+$/.test(String(name))) ? new Map() : digitKeys(quick);
  const search = useRef(null);
  const keys = Object.fromEntries([...digits].map(([digit, name]) => [digit, () => choose(name)]));
  useKeys({ ...keys, '/': () => search.current?.focus() });
  const allDigits = !many && classes.every((name) => /^\d$/.test(String(name)));
  return html`<div class=${allDigits ? 'classes digits' : 'classes'}>
    ${quick.length > 0 && html`<div class="class-buttons" role="group"
        aria-label=${many ? 'Classes used before' : 'Classes'}>
      ${quick.map((name) => html`<${ClassButton} key=${`${typeof name} ${name}`} name=${name}
        digit=${[...digits].find(([, other]) => other === name)?.[0]} choose=${choose} />`)}
    </div>`}
    ${(many || open) && html`<${ClassSearch} ...${{ classes, open, many, choose, search }} />`}
  </div>`;
}

function ClassButton({ name, digit, choose }) {
  const told = digit !== undefined && digit !== String(name); // a 7 need not say that its key is 7
  return html`<button type="button" class="class-button" aria-keyshortcuts=${digit} onClick=${() => choose(name)}>
    <bdi>${text(name)}</bdi>${told && html`<kbd aria-hidden="true">${digit}</kbd>`}
  </button>`;
}

/** A combobox: typing narrows the list, arrows move in it, Enter takes the marked one. */
function ClassSearch({ classes, open, many, choose, search }) {
  const [typed, setTyped] = useState('');
  const [place, setPlace] = useState(NONE);
  const wanted = typed.trim();
  const found = matches(classes, wanted);
  const options = found.slice(0, MOST_MATCHES).map((name) => ({ name, fresh: false }));
  if (open && wanted && !classes.some((name) => String(name) === wanted)) {
    options.push({ name: likeOthers(wanted, classes), fresh: true });
  }
  const shown = many || wanted !== '';
  const marked = Math.min(wanted && place === NONE ? 0 : place, options.length - 1);
  const take = (option) => {
    if (!option) return;
    choose(option.name);
    setTyped('');
    setPlace(NONE);
  };
  const pressed = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.isComposing) return;
    if (step && options.length) setPlace(moved(marked, step, options.length));
    else if (event.key === 'Enter') take(options[marked]);
    else if (event.key === 'Escape') leave(event, typed, setTyped);
    else return;
    event.preventDefault();
  };
  return html`<div class=${many ? 'class-search' : 'class-search other'}>
    <label>
      <span class="sr-only">${many ? 'Search for a class' : 'Another class'}</span>
      <input ref=${search} type="text" role="combobox" autocomplete="off" autocapitalize="off" spellcheck=${false}
        maxlength="1000" dir="auto" placeholder=${many ? `Search ${number(classes.length)} classes` : 'Another class'}
        aria-expanded=${shown && options.length > 0} aria-controls="class-options" aria-autocomplete="list"
        aria-activedescendant=${shown && marked !== NONE ? `class-option-${marked}` : undefined}
        value=${typed} onKeyDown=${pressed}
        onInput=${(event) => { setTyped(event.currentTarget.value); setPlace(NONE); }} />
      <kbd aria-hidden="true">/</kbd>
    </label>
    ${shown && html`<ul id="class-options" role="listbox" aria-label="Classes that match" tabindex="-1">
      ${options.map((option, index) => html`<${Option} key=${`${option.fresh} ${typeof option.name} ${option.name}`}
        ...${option} index=${index} marked=${index === marked} take=${() => take(option)} />`)}
    </ul>`}
    ${shown && html`<p class="quiet-text" role="status">${summary(found.length, options, wanted)}</p>`}
  </div>`;
}

function Option({ name, fresh, index, marked, take }) {
  // The marked one scrolls into view as the arrows move; the list is the only thing that scrolls for it.
  const follow = (element) => marked && element && keepVisible(element);
  return html`<li id=${`class-option-${index}`} ref=${follow} role="option" aria-selected=${marked} onClick=${take}>
    ${fresh ? html`use “<bdi>${text(name)}</bdi>” as a new class` : html`<bdi>${text(name)}</bdi>`}
  </li>`;
}

function moved(marked, step, length) {
  if (marked === NONE) return step > 0 ? 0 : length - 1;
  return (marked + step + length) % length;
}

function keepVisible(element) {
  const box = element.parentElement;
  if (element.offsetTop < box.scrollTop) box.scrollTop = element.offsetTop;
  const below = element.offsetTop + element.offsetHeight - box.clientHeight;
  if (below > box.scrollTop) box.scrollTop = below;
}

/** Escape clears what was typed; once more, it leaves the box, so that the keys work again. */
function leave(event, typed, setTyped) {
  if (typed) setTyped('');
  else event.currentTarget.blur();
}

/** Those that begin with what was typed, then those that have it anywhere. */
function matches(classes, wanted) {
  if (!wanted) return classes;
  const low = wanted.toLowerCase();
  const places = classes.map((name) => String(name).toLowerCase().indexOf(low));
  const first = classes.filter((_, index) => places[index] === 0);
  return [...first, ...classes.filter((_, index) => places[index] > 0)];
}

/** Where all classes are whole numbers, a new one is a number too. */
function likeOthers(wanted, classes) {
  const numbers = classes.length > 0 && classes.every((name) => typeof name === 'number');
  return numbers && /^\d{1,15}$/.test(wanted) ? Number(wanted) : wanted;
}

function summary(found, options, wanted) {
  if (!options.length) return wanted ? 'No class matches.' : 'No classes yet: type one.';
  return found > MOST_MATCHES ? `The first ${MOST_MATCHES} of ${number(found)}. Type to narrow them down.` : '';
}
