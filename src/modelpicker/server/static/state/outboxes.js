/** All outboxes of this tab, one a campaign; and those that closed tabs left behind, which are taken over. */

import { annotator } from './annotator.js';
import { keep, keysFrom } from './browser_storage.js';
import { notices } from './notices.js';
import { Outbox, readKept } from './outbox.js';
import { Store } from './store.js';

const BEAT = 5_000;
const DEAD_AFTER = 90_000; // browsers run the timers of hidden tabs only once a minute

/** @param {string} campaign @param {string} tab */
const keyOf = (campaign, tab) => `outbox:${encodeURIComponent(campaign)}:${tab}`;

/** @typedef {import('./outbox.js').Entry} Entry */

class Post extends Store {
  /** @type {Map<string, Outbox>} */
  #boxes = new Map();

  /** The outbox of a campaign. @param {string} campaign @returns {Outbox} */
  box(campaign) {
    const known = this.#boxes.get(campaign);
    if (known) return known;
    const box = new Outbox(campaign, keyOf(campaign, annotator.tab));
    box.onRefused = (entry, error) => notices.add(refusal(campaign, entry, error));
    box.subscribe(() => this.emit());
    this.#boxes.set(campaign, box);
    return box;
  }

  /** How many answers wait in all. */
  get waiting() {
    return [...this.#boxes.values()].reduce((sum, box) => sum + box.waiting, 0);
  }

  /** Why some could not be sent. @returns {string|null} */
  get trouble() {
    return [...this.#boxes.values()].find((box) => box.waiting && box.trouble)?.trouble ?? null;
  }

  /** Send what an earlier life of this tab, or a closed tab, had not sent. */
  async start() {
    await annotator.ready;
    const mine = keysFrom(localStorage, 'outbox:').filter((key) => key.endsWith(`:${annotator.tab}`));
    for (const kept of mine.map(readKept)) if (kept) this.box(kept.campaign).flush();
    this.#inherit();
    setInterval(() => {
      for (const box of this.#boxes.values()) box.beat();
      this.#inherit();
    }, BEAT);
  }

  /** Try everything again now, after signing in, say. */
  flush() {
    for (const box of this.#boxes.values()) box.flush();
  }

  #inherit() {
    for (const key of keysFrom(localStorage, 'outbox:')) {
      const kept = readKept(key);
      if (!kept || key.endsWith(`:${annotator.tab}`) || !(Date.now() - kept.beat > DEAD_AFTER)) continue;
      keep(localStorage, key, undefined);
      this.box(kept.campaign).adopt(kept.entries);
    }
  }
}

/** @param {string} campaign @param {Entry} entry @param {Error} error */
function refusal(campaign, { kind, id, label }, error) {
  const what = { label: `the label “${label}”`, skip: 'the skip', retract: 'the undo' }[kind];
  return `${campaign}: ${what} of item ${id} was not accepted. ${error.message}`;
}

export const post = new Post();
