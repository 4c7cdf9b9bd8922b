/** What a view shows before it has something, or when it cannot have it. */

import { html, useEffect, useState } from './html.js';
import { home } from './router.js';

/** @param {{what: string}} props */
export const Loading = ({ what }) => html`<p class="loading" role="status">Loading ${what} …</p>`;

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

/**
 * What a call gives, asked anew when one of `inputs` changes.
 * @template T
 * @param {() => Promise<T>} load
 * @param {unknown[]} inputs
 * @returns {{value: T|null, error: Error|null, again: () => void}}
 */
export function useLoaded(load, inputs) {
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState({ value: null, error: null });
  useEffect(() => {
    let wanted = true;
    load().then(
      (value) => wanted && setState({ value, error: null }),
      (error) => wanted && setState((before) => ({ ...before, error })),
    );
    return () => { wanted = false; };
  }, [...inputs, turn]);
  return { ...state, again: () => setTurn((count) => count + 1) };
}
