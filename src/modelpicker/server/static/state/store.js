/** A store holds what changes outside the views. Views subscribe to it. */

import { useEffect, useReducer } from '../lib/html.js';

/** Something that can be listened to. */
export class Store {
  #listeners = new Set();

  /** @param {() => void} listener @returns {() => void} unsubscribes */
  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tell all listeners that something changed. */
  emit() {
    for (const listener of [...this.#listeners]) listener();
  }
}

/**
 * Render again whenever the store changes.
 * @template {Store | null} T
 * @param {T} store
 * @returns {T}
 */
export function useStore(store) {
  const [, again] = useReducer((count) => count + 1, 0);
  useEffect(() => {
    if (!store) return undefined;
    again(); // it may have changed between the render and now
    return store.subscribe(again);
  }, [store]);
  return store;
}
