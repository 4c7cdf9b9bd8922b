/** The dialog that asks before a class is added. A typing error must not become a class that every model got wrong. */

import { count, text } from '../lib/format.js';
import { html, useEffect, useRef } from '../lib/html.js';

/**
 * @param {{name: Name, known: number, add: (event: UIEvent) => void, close: () => void}} props
 *   `known`: how many classes the campaign has so far
 */
export function NewClass({ name, known, add, close }) {
  /** @type {{current: HTMLDialogElement}} */
  const dialog = useRef(null);
  useEffect(() => dialog.current.showModal(), []);
  const added = (/** @type {UIEvent} */ event) => {
    dialog.current.close();
    add(event);
  };
  return html`<dialog ref=${dialog} onClose=${close} aria-labelledby="new-class-title">
    <h2 id="new-class-title">Add “<bdi>${text(name)}</bdi>” as a new class?</h2>
    <p>It is not one of the ${count(known, 'class', 'classes')} of this campaign so far.
      If you add it, every model counts as wrong on this item.</p>
    <p class="actions">
      <button type="button" autofocus onClick=${() => dialog.current.close()}>Cancel</button>
      <button type="button" class="primary" onClick=${added}>Add it</button>
    </p>
  </dialog>`;
}
