/** Keyboard shortcuts. They do nothing while somebody types in a box. */

import { useLayoutEffect, useRef } from '../lib/html.js';

/** @param {EventTarget|null} target */
const typing = (target) => target instanceof Element
  && target.closest('input:not([type=checkbox]), textarea, select, [contenteditable]') !== null;

/**
 * Call the handler of a key while the component is mounted.
 * @param {Record<string, (event: KeyboardEvent) => void>} handlers by `event.key`; "mod+z" is Ctrl or Cmd with z
 */
export function useKeyboardShortcuts(handlers) {
  const latest = useRef(handlers);
  latest.current = handlers;
  useLayoutEffect(() => { // not useEffect: a key may come before the browser has painted
    const pressed = (/** @type {KeyboardEvent} */ event) => {
      if (event.defaultPrevented || event.repeat || event.isComposing || typing(event.target)) return;
      if (document.querySelector('dialog[open]')) return;
      const handler = latest.current[name(event)];
      if (!handler) return;
      event.preventDefault();
      handler(event);
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, []);
}

/** @param {KeyboardEvent} event */
function name(event) {
  if (event.altKey) return '';
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (!event.ctrlKey && !event.metaKey) return key;
  return event.shiftKey ? '' : `mod+${key}`;
}
