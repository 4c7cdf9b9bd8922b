/** A box to search for a class, or to type a new one. */

import { number, text } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { NewClass } from './new_class.js';

const MOST_MATCHES = 50;
const NONE = -1; // no option is marked unless the meaning is clear: then Enter alone labels nothing
/** @type {Record<string, number>} */
const STEPS = { ArrowDown: 1, ArrowUp: -1 };

/** @typedef {{name: Name, fresh: boolean}} Choice `fresh`: it would be a new class */

/**
 * A combobox: typing narrows the list, arrow keys move in it, Enter takes the marked option. Upper and lower case and
 * the space around a name do not matter. Before a new class is added, a dialog asks.
 * @param {{classes: Name[], open: boolean, many: boolean, box: {current: Element}, refresh: () => void,
 *          choose: Choose}} props
 */
export function ClassSearch({ classes, open, many, box, refresh, choose }) {
  const [typed, setTyped] = useState('');
  const [place, setPlace] = useState(NONE);
  const [focused, setFocused] = useState(false);
  const [fresh, setFresh] = useState(/** @type {Name|null} */ (null));
  const wanted = typed.trim();
  const { found, options } = optionsFor(classes, wanted, open);
  const shown = many || (wanted !== '' && focused);
  const marked = Math.min(place === NONE && isClear(classes, wanted, options) ? 0 : place, options.length - 1);
  const clear = () => {
    setTyped('');
    setPlace(NONE);
  };
  const take = (/** @type {Choice|undefined} */ option, /** @type {UIEvent} */ event) => {
    if (option?.fresh) setFresh(option.name);
    else if (option && choose(option.name, event)) clear();
  };
  const pressed = (/** @type {EventOn<HTMLElement, KeyboardEvent>} */ event) => {
    const step = STEPS[event.key];
    if (event.isComposing) return;
    if (step && options.length) setPlace(moved(marked, step, options.length));
    else if (event.key === 'Enter') take(options[marked] ?? options.find((option) => option.fresh), event);
    else if (event.key === 'Escape') leave(event, typed, clear);
    else if (!isShortcut(event, typed, classes)) return;
    event.preventDefault();
  };
  const title = many ? 'Search for a class' : 'Another class';
  return html`<div class=${many ? 'class-search' : 'class-search other'}>
    <label>
      <span class="sr-only">${title}</span>
      <input ref=${box} type="text" role="combobox" autocomplete="off" autocapitalize="off" spellcheck=${false}
        maxlength="1000" dir="auto" placeholder=${many ? `Search ${number(classes.length)} classes` : title}
        aria-expanded=${shown && options.length > 0} aria-controls="class-options" aria-autocomplete="list"
        aria-activedescendant=${shown && marked !== NONE ? `class-option-${marked}` : undefined}
        value=${typed} onKeyDown=${pressed} onBlur=${() => setFocused(false)}
        onFocus=${() => { setFocused(true); if (open) refresh(); }}
        onInput=${(event) => { setTyped(event.currentTarget.value); setPlace(NONE); }} />
      <kbd aria-hidden="true">/</kbd>
    </label>
    ${shown && html`<div class="class-list" onMouseDown=${(event) => event.preventDefault()}>
      <ul id="class-options" role="listbox" aria-label="Classes that match" tabindex="-1">
        ${options.map((option, index) => html`<${Option} key=${`${option.fresh} ${typeof option.name} ${option.name}`}
          ...${option} index=${index} marked=${index === marked} take=${(event) => take(option, event)} />`)}
      </ul>
      <p class="quiet-text" role="status">${summary(found, options, wanted, marked)}</p>
    </div>`}
    ${fresh !== null && html`<${NewClass} name=${fresh} known=${classes.length} close=${() => setFresh(null)}
      add=${(event) => choose(fresh, event) && clear()} />`}
  </div>`;
}

/** @param {Choice & {index: number, marked: boolean, take: (event: UIEvent) => void}} props */
function Option({ name, fresh, index, marked, take }) {
  // The marked option scrolls into view. Only the list scrolls, not the page.
  const follow = (/** @type {HTMLElement|null} */ element) => marked && element && keepVisible(element);
  return html`<li id=${`class-option-${index}`} ref=${follow} role="option" aria-selected=${marked} onClick=${take}>
    ${fresh ? html`Add “<bdi>${text(name)}</bdi>” as a new class …` : html`<bdi>${text(name)}</bdi>`}
  </li>`;
}

/** @param {Name[]} classes @param {string} wanted @param {boolean} open */
function optionsFor(classes, wanted, open) {
  const found = matches(classes, wanted);
  const options = found.slice(0, MOST_MATCHES).map((name) => ({ name, fresh: false }));
  if (open && wanted && meant(classes, wanted) === undefined) {
    options.push({ name: likeOthers(wanted, classes), fresh: true });
  }
  return { found: found.length, options };
}

/**
 * Whether Enter may take the first option: it is exactly what was typed; or no class can be added, and it is the only
 * one that begins with it; or it is the offer to add a class, and there is no other option.
 * @param {Name[]} classes @param {string} wanted @param {Choice[]} options
 */
function isClear(classes, wanted, options) {
  if (!wanted || !options.length) return false;
  if (meant(classes, wanted) !== undefined) return true;
  if (options.some(({ fresh }) => fresh)) return options.length === 1;
  return options.filter(({ name }) => folded(name).startsWith(folded(wanted))).length === 1;
}

/** A name without case. Upper case first: some letters have more than one lower case form. @param {Name} name */
const folded = (name) => String(name).trim().toUpperCase().toLowerCase();

/**
 * The class that was typed: the same name, or the only one that differs just in case or in the space around it.
 * @param {Name[]} classes @param {string} typed @returns {Name|undefined}
 */
export function meant(classes, typed) {
  const exact = classes.filter((name) => String(name) === typed);
  const alike = exact.length ? exact : classes.filter((name) => folded(name) === folded(typed));
  return alike.length === 1 ? alike[0] : undefined;
}

/**
 * First the class that was typed, then those that begin with the text, then those that contain it.
 * @param {Name[]} classes @param {string} wanted
 */
function matches(classes, wanted) {
  if (!wanted) return classes;
  const low = folded(wanted);
  const places = new Map(classes.map((name) => [name, folded(name).indexOf(low)]));
  const placeOf = (/** @type {Name} */ name) => places.get(name) ?? NONE;
  const sure = meant(classes, wanted);
  const first = classes.filter((name) => name !== sure && placeOf(name) === 0);
  const others = classes.filter((name) => name !== sure && placeOf(name) > 0);
  return [...(sure === undefined ? [] : [sure]), ...first, ...others];
}

/** If all classes are whole numbers, a new class is a number too. @param {string} wanted @param {Name[]} classes */
function likeOthers(wanted, classes) {
  const numbers = classes.length > 0 && classes.every((name) => typeof name === 'number');
  return numbers && /^\d{1,15}$/.test(wanted) ? Number(wanted) : wanted;
}

/**
 * Whether the key is "/", which moves the focus here. It types nothing, unless a class begins with it.
 * @param {KeyboardEvent} event @param {string} typed @param {Name[]} classes
 */
const isShortcut = (event, typed, classes) => event.key === '/' && typed === ''
  && !classes.some((name) => String(name).startsWith('/'));

/** @param {number} marked @param {number} step @param {number} length */
function moved(marked, step, length) {
  if (marked === NONE) return step > 0 ? 0 : length - 1;
  return (marked + step + length) % length;
}

/** @param {HTMLElement} element */
function keepVisible(element) {
  const box = element.parentElement;
  if (!box) return;
  if (element.offsetTop < box.scrollTop) box.scrollTop = element.offsetTop;
  const below = element.offsetTop + element.offsetHeight - box.clientHeight;
  if (below > box.scrollTop) box.scrollTop = below;
}

/**
 * Escape clears the text. A second Escape leaves the box, so that the shortcuts work again.
 * @param {EventOn<HTMLElement>} event @param {string} typed @param {() => void} clear
 */
function leave(event, typed, clear) {
  if (typed) clear();
  else event.currentTarget.blur();
}

/** @param {number} found @param {Choice[]} options @param {string} wanted @param {number} marked */
function summary(found, options, wanted, marked) {
  if (!options.length) return wanted ? 'No class matches.' : 'No classes yet: type one.';
  if (found > MOST_MATCHES) return `The first ${MOST_MATCHES} of ${number(found)}. Type to narrow them down.`;
  if (!wanted || marked !== NONE) return '';
  return options.some(({ fresh }) => fresh)
    ? 'Choose with the arrow keys. Enter alone asks about a new class.'
    : 'Type more, or choose with the arrow keys.';
}
