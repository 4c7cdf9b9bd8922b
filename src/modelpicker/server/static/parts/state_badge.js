/** The state of a campaign, its reason and the next step. The words are the server's, the same everywhere. */

import { html } from '../lib/html.js';

/** @typedef {Api.StateDocument} State */

/** Whether the result is proven. Then it is shown first, and labelling is optional. @param {State} state */
export const isOver = (state) => state.name === 'certified' || state.name === 'won';

/** Whether nobody is asked for anything. @param {State} state */
export const isIdle = (state) => state.name === 'paused' || state.name === 'archived';

/** Whether somebody took the result. @param {State} state */
export const isFinished = (state) => state.name === 'finished';

/** Whether more labels are wanted. @param {State} state */
export const asks = (state) => state.name === 'running' || state.name === 'waiting-for-labels';

/** @param {{state: State}} props */
export function StateBadge({ state }) {
  return html`<strong class=${`badge state-${state.name}`}>${state.title}</strong>`;
}

/** @param {{state: State, next?: boolean}} props */
export function StateLine({ state, next = true }) {
  return html`<p class="state-line">
    <${StateBadge} state=${state} /> <span>${state.reason}${next && ` ${state.next}`}</span></p>`;
}
