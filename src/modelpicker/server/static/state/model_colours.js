/** The colour of each model: it keeps the colour whatever its rank, and after a reload. */

import { readValue, writeValue } from './browser_storage.js';

const COLOURS = 6;
const SLOTS = 2 * COLOURS; // each colour as a solid and as a dashed line

/** The classes of a slot: its colour, and whether the line is dashed. @param {number} slot */
export const lookOf = (slot) => `line-${(slot % COLOURS) + 1}${slot % SLOTS < COLOURS ? '' : ' dashed'}`;

/**
 * A slot for each model that is drawn. Of at most 12 models each has its own, by when it joined and by its name. Of
 * more, a model takes a free slot when it is first drawn, and has it again whenever it comes back.
 * @param {string} campaign
 * @param {Name[]} drawn
 * @param {Api.StandingEntry[]} all
 * @returns {Map<Name, number>}
 */
export function slotsOf(campaign, drawn, all) {
  const order = [...all].sort((one, other) => one.since - other.since || (String(one.model) < String(other.model) ? -1 : 1))
    .map((entry) => entry.model);
  const key = `colours:${campaign}`;
  /** @type {Record<string, number>} */
  const known = readValue(localStorage, key, {});
  const found = new Map();
  const taken = new Set();
  const own = (/** @type {Name} */ model) => known[JSON.stringify(model)];
  const byOrder = order.filter((model) => drawn.includes(model));
  for (const model of [...byOrder.filter((one) => own(one) !== undefined), ...byOrder.filter((one) => own(one) === undefined)]) {
    const wanted = own(model) ?? order.indexOf(model) % SLOTS;
    const slot = Array.from({ length: SLOTS }, (_, step) => (wanted + step) % SLOTS).find((one) => !taken.has(one)) ?? wanted;
    taken.add(slot);
    found.set(model, slot);
    known[JSON.stringify(model)] = slot;
  }
  writeValue(localStorage, key, known);
  return found;
}
