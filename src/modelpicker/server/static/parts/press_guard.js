/**
 * Ignores presses that are too early. A double click, a key that is held, or a press that began before the item was
 * shown, or just after, would answer an item that nobody has looked at.
 */

import { useLayoutEffect, useRef } from '../lib/html.js';

const UNSEEN = 250; // milliseconds in which nobody can have looked at a new item

/**
 * Two fast clicks are two answers if each began on an item that was shown for long enough.
 * @param {number|undefined} id of the item on screen
 * @returns {(event: UIEvent & {repeat?: boolean}) => boolean} whether a press may answer it
 */
export function usePressGuard(id) {
  const shown = useRef(0);
  const began = useRef(0);
  useLayoutEffect(() => {
    shown.current = performance.now();
  }, [id]);
  useLayoutEffect(() => {
    const down = (/** @type {PointerEvent} */ event) => { began.current = event.timeStamp; };
    document.addEventListener('pointerdown', down, true);
    return () => document.removeEventListener('pointerdown', down, true);
  }, []);
  return (event) => {
    if (event.repeat) return false;
    const pressed = event.detail > 0 ? began.current : event.timeStamp; // a click by a key has no pointer
    return pressed - shown.current >= UNSEEN;
  };
}
