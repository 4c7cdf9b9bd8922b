/** A note about an item, and a flag to look at it again. */

import { itemName } from '../lib/format.js';
import { html, useEffect, useRef, useState } from '../lib/html.js';

const LONGEST = 2_000;

/** What somebody noted about the item on screen. The button says whether it is flagged. @param {{note: Api.OwnNote|null}} props */
export const OwnNote = ({ note }) => (note?.text ? html`<p class="own-note" dir="auto">${note.text}</p>` : null);

/**
 * A dialog to write a note. It does not continue to the next item.
 * @param {{query: Api.Waiting, save: (note: Api.OwnNote) => void, close: () => void}} props
 */
export function NoteDialog({ query, save, close }) {
  /** @type {{current: HTMLDialogElement}} */
  const dialog = useRef(null);
  const [text, setText] = useState(query.note?.text ?? '');
  const [flagged, setFlagged] = useState(query.note?.flagged ?? false);
  useEffect(() => dialog.current.showModal(), []);
  const done = (/** @type {Event} */ event) => {
    event.preventDefault();
    save({ text: text.trim(), flagged });
    close();
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) done(event);
  };
  return html`<dialog ref=${dialog} class="note-dialog" onClose=${close} aria-labelledby="note-title">
    <form onSubmit=${done}>
      <h2 id="note-title">Note about <bdi>${itemName(query)}</bdi></h2>
      <label for="note-text">What should the owner know?</label>
      <textarea id="note-text" rows="4" maxlength=${LONGEST} dir="auto" value=${text} onKeyDown=${pressed}
        onInput=${(event) => setText(event.currentTarget.value)} autofocus></textarea>
      <label class="check"><input type="checkbox" checked=${flagged}
        onChange=${(event) => setFlagged(event.currentTarget.checked)} /> Flag it: look at this again</label>
      <p class="actions"><button class="primary">Save</button>
        <button type="button" onClick=${close}>Cancel</button></p>
    </form>
  </dialog>`;
}
