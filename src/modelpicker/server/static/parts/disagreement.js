/** Where the models disagree: the classes they confuse, and the items with the most different predictions. */

import { count, itemName, number, percent, text } from '../lib/format.js';
import { html } from '../lib/html.js';
import { Item } from './item.js';

/**
 * @param {{disagreement: Api.Disagreement, pool: boolean, free: boolean}} props
 *   `pool`: all items are looked at, not the last; `free`: answers are free text, so that there are no classes to confuse
 */
export function Disagreement({ disagreement: { rounds, divided, pairs, items }, pool, free }) {
  if (!divided) return null; // then the panel says nothing
  return html`<section class="card disagreement" aria-labelledby="disagreement-title">
    <h2 id="disagreement-title">Where models disagree</h2>
    <p class="quiet-text">They differ on ${number(divided)} of the ${pool ? '' : 'last '}${count(rounds, 'item')} ${''}
      (${percent(divided / rounds)}). Only there can a label tell them apart.</p>
    <div class="columns">
      ${pairs.length > 0 && !free && html`<div>
        <h3>Classes taken for one another</h3>
        <ol class="pairs">${pairs.map((pair) =>
          html`<${Pair} key=${JSON.stringify(pair.classes)} pair=${pair} most=${pairs[0].rounds} />`)}</ol>
      </div>`}
      ${items.length > 0 && html`<div>
        <h3>Most divided${pool ? '' : ' recently'}</h3>
        <ol class="divided">${items.map((round) => html`<${Divided} key=${round.id} round=${round} />`)}</ol>
      </div>`}
    </div>
  </section>`;
}

/** @param {{pair: Api.ClassPair, most: number}} props */
function Pair({ pair: { classes, rounds }, most }) {
  return html`<li>
    <span class="pair-name"><bdi>${text(classes[0])}</bdi> or <bdi>${text(classes[1])}</bdi></span>
    <span class="figure quiet-text">${count(rounds, 'item')}</span>
    <span class="track" aria-hidden="true"><span style=${{ width: `${(100 * rounds) / most}%` }}></span></span>
  </li>`;
}

const MOST_VOTES = 6;

/** @param {{round: Api.DividedItem}} props */
function Divided({ round }) {
  const shown = round.votes.slice(0, MOST_VOTES);
  const others = round.votes.length - shown.length;
  return html`<li class=${round.item ? 'pictured' : ''}>
    ${round.item && html`<div class="thumb"><${Item} query=${round} /></div>`}
    <div>
      <p class="item-name" dir="auto" title=${itemName(round)}>${itemName(round)}</p>
      <p class="votes">${shown.map(([name, votes]) => html`<span class="vote" key=${`${typeof name} ${name}`}>
        <bdi>${text(name)}</bdi> <span class="figure">${number(votes)}</span></span>`)}
        ${others > 0 && html`<span class="quiet-text">and ${number(others)} more</span>`}</p>
    </div>
  </li>`;
}
