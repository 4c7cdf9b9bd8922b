/** The classes used recently. Each stays in its slot, so that a digit key does not suddenly mean another class. */

import { readValue, writeValue } from './browser_storage.js';

export const RECENT_SLOTS = 9;

/** @typedef {{name: Name, at: number}[]} Slots */

/** @param {string} campaign @returns {Slots} */
export const recentClasses = (campaign) => readValue(localStorage, `recent:${campaign}`, []);

/**
 * The slots after a class was used. It keeps its slot, or takes a free one, or replaces the least recently used class.
 * @param {string} campaign @param {Slots} slots @param {Name} name @returns {Slots}
 */
export function markUsed(campaign, slots, name) {
  const at = Math.max(0, ...slots.map((slot) => slot.at)) + 1;
  const oldest = slots.reduce((least, slot, place) => (slot.at < slots[least].at ? place : least), 0);
  const own = slots.findIndex((slot) => slot.name === name);
  const place = own >= 0 ? own : slots.length < RECENT_SLOTS ? slots.length : oldest;
  const next = [...slots];
  next[place] = { name, at };
  writeValue(localStorage, `recent:${campaign}`, next);
  return next;
}
