/** An animation for rows that change places. */

import { useLayoutEffect, useRef } from '../lib/html.js';
import { STILL } from '../state/media.js';

const DURATION = 450;
const MOST = 20; // rows; nobody could follow hundreds, and they would slow the browser down

/**
 * Pass the result as `ref` to the element that holds the rows, and give each row its key as `data-row`.
 * @param {string[]} keys of the rows, in order
 */
export function useMovingRows(keys) {
  /** @type {{current: Element}} */
  const holder = useRef(null);
  /** @type {{current: Map<string|undefined, number>}} */
  const places = useRef(new Map());
  useLayoutEffect(() => {
    const before = places.current;
    places.current = new Map();
    if (keys.length > MOST) return;
    /** @type {Iterable<HTMLElement>} */
    const rows = holder.current?.querySelectorAll('[data-row]') ?? [];
    for (const row of rows) {
      const top = row.offsetTop;
      const key = row.dataset.row;
      places.current.set(key, top);
      const old = before.get(key) ?? top;
      if (old !== top) move(row, old - top);
    }
  }, [keys.join('\n')]);
  return holder;
}

/** @param {HTMLElement} row @param {number} from */
function move(row, from) {
  if (matchMedia(STILL).matches) return;
  const steps = [{ transform: `translateY(${from}px)` }, { transform: 'none' }];
  row.animate(steps, { duration: DURATION, easing: 'ease-in-out' });
  if (from > 0) row.animate([{ backgroundColor: 'var(--accent-soft)' }, {}], { duration: 2 * DURATION });
}
