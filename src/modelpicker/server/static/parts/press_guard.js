/**
 * A press answers the item that one has seen. A double click, a key that is held, or a press that began before the
 * item came, or just after, would answer an item that nobody has looked at.
 */

import { useLayoutEffect, useRef } from '../lib/html.js';

const UNSEEN = 250; // milliseconds in which nobody has seen a new item

/**
 * Two clicks of which each began on an item that was there long enough are two answers, however fast the hand is.
 * @param {number|undefined} id of the item on screen
 * @returns {(event: UIEvent & {repeat?: boolean}) => boolean} whether a press may answer it
 */
export function usePress(id) {
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
    const pressed = event.detail > 0 ? began.current : event.timeStamp; // a key's click has no pointer
    return pressed - shown.current >= UNSEEN;
  };
}
