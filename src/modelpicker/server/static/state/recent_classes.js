/** The classes used of late, each in its place: a digit key must not change its meaning under one's fingers. */

import { keep, read } from './browser_storage.js';

export const PLACES = 9;

/** @typedef {{name: Name, at: number}[]} Slots */

/** @param {string} campaign @returns {Slots} */
export const recentOf = (campaign) => read(localStorage, `recent:${campaign}`, []);

/**
 * The slots after a class was used: it keeps its place, or takes a free one, or that of the one unused for longest.
 * @param {string} campaign @param {Slots} slots @param {Name} name @returns {Slots}
 */
export function used(campaign, slots, name) {
  const at = Math.max(0, ...slots.map((slot) => slot.at)) + 1;
  const oldest = slots.reduce((least, slot, place) => (slot.at < slots[least].at ? place : least), 0);
  const own = slots.findIndex((slot) => slot.name === name);
  const place = own >= 0 ? own : slots.length < PLACES ? slots.length : oldest;
  const next = [...slots];
  next[place] = { name, at };
  keep(localStorage, `recent:${campaign}`, next);
  return next;
}
