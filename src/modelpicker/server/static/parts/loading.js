/** Loading data, and what a view shows while it loads or when that fails. */

import { html, useLayoutEffect, useState } from '../lib/html.js';
import { home } from '../state/router.js';

/**
 * @param {{what: string, error?: Error|null}} props `error`: a temporary problem, if that is why it takes so long
 */
export function Loading({ what, error = null }) {
  return html`<div class="loading" role="status">
    <p>Loading ${what} …</p>
    ${error && html`<p dir="auto">${error.message}</p>`}
  </div>`;
}

/** @param {{error: Error & {status?: number}, again?: () => void}} props */
export function Failure({ error, again }) {
  return html`<div class="card empty" role="alert">
    <h2>${error.status === 404 ? 'Not found' : error.status === 403 ? 'Not for this role' : 'That did not work'}</h2>
    <p dir="auto">${error.message}</p>
    <p class="actions">
      ${again && html`<button type="button" onClick=${again}>Try again</button>`}
      <a class="button" href=${home}>All campaigns</a>
    </p>
  </div>`;
}

const RETRY = 3_000;

/**
 * The result of a request. It is sent again when one of `inputs` changes, and after a temporary error.
 * @template T
 * @param {() => Promise<T>} load
 * @param {unknown[]} inputs
 * @returns {{value: T|null, error: RequestError|null, again: () => void}}
 */
export function useLoaded(load, inputs) {
  const [turn, setTurn] = useState(0);
  const again = () => setTurn((count) => count + 1);
  /** @typedef {{value: T|null, error: RequestError|null}} Loaded */
  const [state, setState] = useState(/** @type {Loaded} */ ({ value: null, error: null }));
  useLayoutEffect(() => { // not useEffect, which waits for the browser to paint: the request goes out first
    let wanted = true;
    let timer = 0;
    const failed = (/** @type {RequestError} */ error) => {
      if (!wanted) return;
      setState((before) => ({ ...before, error }));
      if (error.temporary) timer = setTimeout(again, Math.max(RETRY, (error.retryAfter ?? 0) * 1_000));
    };
    load().then((value) => wanted && setState({ value, error: null }), failed);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [...inputs, turn]);
  return { ...state, again };
}
