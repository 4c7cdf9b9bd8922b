/** A dialog with the keyboard shortcuts of the labelling view. */

import { html, useEffect, useRef } from '../lib/html.js';

const COMPARE = ['d', 'compare: mark the words that differ; once more continues to the next answer, then it ends'];

/** The keys that depend on what is asked for. @type {Record<Api.Leased['ask_for'], string[][]>} */
const OWN_KEYS = {
  class: [
    ['1 … 9, 0', 'the class with that digit; where classes are digits, that very digit'],
    ['/', 'go to the box in which you search for a class or add one; Enter takes it, Escape leaves the box'],
    ['n', 'write a note about the item'],
    ['p', 'show or hide what the models said, if you may see it'],
  ],
  grades: [
    ['0 … 5', 'stars for the marked answer: 0 is wrong, 5 is right. Then the next answer is marked; the last one sends all grades'],
    ['y', 'right, as 5 stars'],
    ['n', 'wrong, as 0 stars'],
    ['w', 'all answers are wrong'],
    ['⌫', 'back to the answer before'],
    COMPARE,
    ['c', 'write a note (a comment) about the item'],
  ],
  preference: [
    ['1, 2', 'the first or the second answer is better'],
    ['=', 'they are equally good'],
    ['d', 'compare: mark the words that differ; once more ends it'],
    ['n', 'write a note about the item'],
  ],
};

/** The keys that are always the same. */
const KEYS = [
  ['s', 'skip: you cannot tell'],
  ['u', 'undo the last answer; several times if you like. Also Ctrl Z, or ⌘ Z'],
  ['f', 'flag the item: look at this again; once more takes the flag away'],
  ['m', 'show text plain, or with its markup'],
  ['?', 'this help'],
];

/** @param {{kind: Api.Leased['ask_for'], open: boolean, close: () => void}} props */
export function Help({ kind, open, close }) {
  /** @type {{current: HTMLDialogElement}} */
  const dialog = useRef(null);
  useEffect(() => {
    if (open) dialog.current.showModal();
    else dialog.current.close();
  }, [open]);
  return html`<dialog ref=${dialog} onClose=${close} aria-labelledby="help-title">
    <h2 id="help-title">Keys</h2>
    <dl class="keys">
      ${[...OWN_KEYS[kind], ...KEYS].map(([key, what]) => html`<div key=${key}><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}
    </dl>
    <p class="quiet-text">While you type in a box, no key labels. A press within a quarter of a second after a new
      item is ignored, so that a double click answers one item only.</p>
    <p class="quiet-text">Answers are sent in the background. If the connection is lost, continue: they are kept in this
      browser, and sent when it is back.</p>
    <form method="dialog"><button>Close</button></form>
  </dialog>`;
}
