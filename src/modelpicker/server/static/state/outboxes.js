/** The outboxes of this tab, one per campaign. It also takes over the outboxes of closed tabs. */

import { annotator } from './annotator.js';
import { keysWithPrefix, writeValue } from './browser_storage.js';
import { notices } from './notices.js';
import { Outbox, readSaved } from './outbox.js';
import { Store } from './store.js';

const BEAT = 5_000;
const DEAD_AFTER = 90_000; // browsers run the timers of hidden tabs only once a minute

/** @param {string} campaign @param {string} tab */
const keyOf = (campaign, tab) => `outbox:${encodeURIComponent(campaign)}:${tab}`;

/** @typedef {import('./outbox.js').Entry} Entry */

class Outboxes extends Store {
  /** @type {Map<string, Outbox>} */
  #boxes = new Map();

  /** The outbox of a campaign. @param {string} campaign @returns {Outbox} */
  forCampaign(campaign) {
    const known = this.#boxes.get(campaign);
    if (known) return known;
    const box = new Outbox(campaign, keyOf(campaign, annotator.tab));
    box.onRefused = (entry, error) => notices.add(refusal(campaign, entry, error));
    box.subscribe(() => this.emit());
    this.#boxes.set(campaign, box);
    return box;
  }

  /** How many answers wait in total. */
  get waiting() {
    return [...this.#boxes.values()].reduce((sum, box) => sum + box.waiting, 0);
  }

  /** Why some could not be sent. @returns {string|null} */
  get trouble() {
    return [...this.#boxes.values()].find((box) => box.waiting && box.trouble)?.trouble ?? null;
  }

  /** Send what was not sent before this tab was reloaded, or before another tab was closed. */
  async start() {
    await annotator.ready;
    const mine = keysWithPrefix(localStorage, 'outbox:').filter((key) => key.endsWith(`:${annotator.tab}`));
    for (const saved of mine.map(readSaved)) if (saved) this.forCampaign(saved.campaign).flush();
    this.#inherit();
    setInterval(() => {
      for (const box of this.#boxes.values()) box.beat();
      this.#inherit();
    }, BEAT);
  }

  /** Try to send everything now, for example after signing in. */
  flush() {
    for (const box of this.#boxes.values()) box.flush();
  }

  #inherit() {
    for (const key of keysWithPrefix(localStorage, 'outbox:')) {
      const saved = readSaved(key);
      if (!saved || key.endsWith(`:${annotator.tab}`) || !(Date.now() - saved.beat > DEAD_AFTER)) continue;
      writeValue(localStorage, key, undefined);
      this.forCampaign(saved.campaign).adopt(saved.entries);
    }
  }
}

/** @param {string} campaign @param {Entry} entry @param {Error} error */
function refusal(campaign, { kind, id, label }, error) {
  const what = { label: `the label “${label}”`, skip: 'the skip', retract: 'the undo', note: 'the note' }[kind];
  return `${campaign}: ${what} of item ${id} was not accepted. ${error.message}`;
}

export const outboxes = new Outboxes();
