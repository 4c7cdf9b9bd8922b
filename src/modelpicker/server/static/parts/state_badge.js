/** Where a campaign stands, in the server's words, which are the same everywhere: a state, its reason, a next step. */

import { html } from '../lib/html.js';

/** @typedef {Api.StateDocument} State */

/** Whether what was wanted is proved: then the result comes first, and labelling is a choice. @param {State} state */
export const isOver = (state) => state.name === 'certified' || state.name === 'won';

/** Whether more items could be asked about: not once the budget is spent, or the result proved. @param {State} state */
export const takesItems = (state) => !isOver(state) && state.name !== 'budget-spent';

/** @param {{state: State}} props */
export function StateBadge({ state }) {
  return html`<strong class=${`badge state-${state.name}`}>${state.title}</strong>`;
}

/** @param {{state: State, next?: boolean}} props */
export function StateLine({ state, next = true }) {
  return html`<p class="state-line">
    <${StateBadge} state=${state} /> <span>${state.reason}${next && ` ${state.next}`}</span></p>`;
}
