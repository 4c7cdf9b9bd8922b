/**
 * The work of one annotator on one campaign. Some queries are leased ahead, and the first is on screen. An answer goes
 * to the outbox, and the next query is shown at once. Nothing here waits for the network.
 */

import { itemName } from '../lib/format.js';
import { api } from './api.js';
import { readValue, writeValue } from './browser_storage.js';
import { connection } from './connection.js';
import { notices } from './notices.js';
import { Store } from './store.js';

const AHEAD = 10;
const MOST_LEASES = 100;
const LEASE = 300; // seconds; renewed well before while somebody looks
const RENEW = 100_000;
const LOOK_AGAIN = 2_000;
const AT_ONCE = 50;
const AFTER_RELOAD = 1_500;
const MOST_HISTORY = 50;
const LARGEST_SAVED = 10_000; // characters of an item that is saved across a reload, so that undo works

// Leases that are being given back. Somebody who returns at once must not get them and then lose them.
/** @type {Promise<unknown>} */
let releasing = Promise.resolve();

/**
 * @typedef {Api.Waiting} Query
 * @typedef {import('./outbox.js').Entry} Entry
 */

export class Labeller extends Store {
  /** @type {Query[]} */
  queue = [];
  /** @type {{query: Query, label: Answer|null, size: number}[]} */
  history = [];
  /** How many queries wait for a label in total, as the server said last. @type {number|null} */
  pending = null;
  /** How many labels there are in total, as the server said last. @type {number|null} */
  labels = null;
  /** How many labels this person has given, on any device; null until the server has said so. @type {number|null} */
  own = null;
  /**
   * The last action, to report it.
   * @type {{did: 'label'|'skip'|'undo'|'note', label: Answer|null, query: Query}|null}
   */
  last = null;
  /** What is asked for, as the server said last. @type {Api.Leased['ask_for']} */
  askFor = 'class';
  loading = true;
  /** @type {RequestError|null} */
  error = null;
  #answered = new Set(); // sent since the last lease request began: its response may still contain them
  #returned = new Set(); // undone since then: its response may not contain them
  #sentMeanwhile = false; // since the last lease request began: its response may not count them
  #filling = false;
  #again = false;
  #deciding = false; // the server still looks for the next item that needs a label
  #timer = 0;
  /** @type {(() => void)[]} */
  #stops = [];

  /** @param {string} campaign @param {string} annotator @param {import('./outbox.js').Outbox} outbox */
  constructor(campaign, annotator, outbox) {
    super();
    this.campaign = campaign;
    this.annotator = annotator;
    this.outbox = outbox;
    this.history = readValue(sessionStorage, `history:${campaign}`, []);
  }

  /** The query on screen. */
  get current() {
    return this.queue[0] ?? null;
  }

  /** How many wait for a label, without those on their way to the server. */
  get left() {
    if (this.pending === null) return null;
    return Math.max(this.queue.length, this.pending - this.#unsent());
  }

  start() {
    const visible = () => document.visibilityState === 'visible' && this.fill();
    document.addEventListener('visibilitychange', visible);
    // A tab that is closed or reloaded gives its items back. A reload takes them again, and once more a little later:
    // what was given back may arrive after that.
    const left = () => this.#release(this.queue);
    const shown = (/** @type {PageTransitionEvent} */ event) => event.persisted && this.fill();
    addEventListener('pagehide', left);
    addEventListener('pageshow', shown);
    const again = setTimeout(() => this.fill(), AFTER_RELOAD);
    const unsubscribe = connection.subscribe(() => (connection.up ? this.fill() : this.emit()));
    const { outbox } = this;
    const refused = outbox.onRefused;
    outbox.onSent = (entry, reply) => this.#sent(entry, reply);
    outbox.onRefused = (entry, error) => {
      if (entry.kind !== 'note') this.#forget(entry.id);
      refused(entry, error);
    };
    this.#stops = [unsubscribe, () => document.removeEventListener('visibilitychange', visible), () => {
      clearTimeout(this.#timer);
      clearTimeout(again);
      removeEventListener('pagehide', left);
      removeEventListener('pageshow', shown);
      outbox.onSent = () => undefined;
      outbox.onRefused = refused;
    }];
    this.fill();
  }

  /**
   * Continue under another name. Leases belong to a name, so they are released and taken again. The item on screen
   * stays.
   * @param {string} annotator
   */
  rename(annotator) {
    if (annotator === this.annotator) return;
    this.annotator = annotator;
    this.#release(this.queue);
    this.fill();
  }

  /** Release the item on screen and those ahead, so that others need not wait. This is for leaving the view. */
  stop() {
    for (const stop of this.#stops.splice(0)) stop();
    this.#release(this.queue.splice(0));
  }

  /** @param {Query[]} queries */
  #release(queries) {
    const free = queries.filter(({ id }) => !this.outbox.concerns(id));
    const released = free.map(({ id }) => api.release(this.campaign, id).catch(() => undefined));
    releasing = Promise.all([releasing, ...released]);
  }

  /** @param {Answer} label */
  answer(label) {
    this.#done('label', label);
  }

  /**
   * Note something about an item: the one on screen, or one that was answered.
   * @param {Query} query @param {Api.OwnNote} note
   */
  note(query, note) {
    query.note = note;
    this.outbox.addNote({ kind: 'note', id: query.id, note, annotator: this.annotator });
    this.last = { did: 'note', label: null, query };
    this.#changed();
  }

  skip() {
    this.#done('skip', null);
  }

  /** @param {'label'|'skip'} kind @param {Answer|null} label */
  #done(kind, label) {
    const query = this.queue.shift();
    if (!query) return;
    const entry = { kind, id: query.id, annotator: this.annotator };
    this.outbox.add(label === null ? entry : { ...entry, label });
    const size = JSON.stringify([query.item, query.candidates]).length;
    this.history = [...this.history, { query, label, size }].slice(-MOST_HISTORY);
    this.last = { did: kind, label, query };
    if (kind === 'label') this.#countOwn(1);
    this.loading = !this.current;
    this.#changed();
    this.fill();
  }

  /** Bring back the item that was answered last. */
  undo() {
    const entry = this.history.at(-1);
    if (!entry) return;
    this.history = this.history.slice(0, -1);
    this.outbox.undo(entry.query.id, this.annotator);
    this.queue = [entry.query, ...this.queue.filter(({ id }) => id !== entry.query.id)];
    this.#answered.delete(entry.query.id);
    this.#returned.add(entry.query.id);
    this.last = { did: 'undo', label: entry.label, query: entry.query };
    if (entry.label !== null) this.#countOwn(-1);
    this.#changed();
  }

  /** Lease what is missing, and renew the rest. One request at a time. */
  async fill() {
    if (!this.#stops.length) return;
    if (this.#filling) {
      this.#again = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#filling = true;
    await releasing;
    const { annotator } = this;
    this.#answered.clear();
    this.#returned.clear();
    const known = this.outbox.settled;
    this.#sentMeanwhile = false;
    try {
      const most = Math.min(MOST_LEASES, Math.max(AHEAD, this.queue.length) + this.#unsent());
      const leased = await api.lease(this.campaign, { most, seconds: LEASE, annotator });
      if (annotator === this.annotator) {
        if (known && this.outbox.settled && !this.#sentMeanwhile) this.own = leased.own; // else it may lack some
        this.#take(leased);
      }
      else this.#release(leased.queries); // leased under the old name: the next request asks again
    } catch (error) {
      this.error = /** @type {RequestError} */ (error);
    }
    this.#filling = false;
    // The next request is for what ran out meanwhile, or for what the answer on its way decides.
    this.loading = (this.#again || this.#deciding || this.#unsent() > 0) && !this.error && !this.current;
    this.emit();
    this.#next();
  }

  /** When to lease again: at once if something changed meanwhile, soon if there is too little, else to renew. */
  #next() {
    if (!this.#stops.length) return;
    if (this.#again && !this.error) {
      this.#again = false;
      this.fill();
      return;
    }
    this.#again = false;
    const soon = this.#deciding ? AT_ONCE : LOOK_AGAIN;
    const pause = this.error || this.queue.length === 0 ? soon : RENEW;
    const wait = Math.max(pause, (this.error?.retryAfter ?? 0) * 1_000);
    this.#timer = setTimeout(() => (document.visibilityState === 'visible' ? this.fill() : this.#next()), wait);
  }

  /** @param {Api.Leased} leased */
  #take({ queries, pending, deciding, ask_for: askFor }) {
    this.error = null;
    this.#deciding = deciding;
    if (!this.#stops.length) {
      this.#release(queries); // the view was left before they came
      return;
    }
    this.pending = pending;
    this.askFor = askFor;
    const given = new Map(queries.map((query) => [query.id, query]));
    const kept = this.queue.filter(({ id }) => given.has(id) || this.#returned.has(id) || this.outbox.concerns(id));
    const lost = this.current && kept[0]?.id !== this.current.id;
    if (lost) notices.add(`${itemName(this.current)} was labelled by somebody else, or given to them, meanwhile.`);
    const known = new Set(kept.map(({ id }) => id));
    const others = queries.filter(({ id }) => !known.has(id) && !this.outbox.answers(id) && !this.#answered.has(id));
    for (const query of others) query.note = this.outbox.noteOn(query.id) ?? query.note;
    this.queue = [...kept, ...others];
  }

  /** @param {Entry} entry @param {import('./outbox.js').Reply} reply */
  #sent(entry, reply) {
    if (entry.kind === 'note' || 'text' in reply) return;
    this.#sentMeanwhile = true;
    (entry.kind === 'retract' ? this.#returned : this.#answered).add(entry.id);
    this.pending = reply?.pending ?? this.pending;
    this.labels = reply?.labels_used ?? this.labels;
    this.emit();
    if (!this.current) this.fill(); // what is asked next may have waited for this answer
  }

  /**
   * An answer that the server refused cannot be undone, and its item does not stay on screen.
   * @param {number} id
   */
  #forget(id) {
    this.history = this.history.filter(({ query }) => query.id !== id);
    this.queue = this.queue.filter((query) => query.id !== id);
    this.#changed();
    this.fill();
  }

  #unsent() {
    const ids = new Set(this.outbox.entries.map(({ id }) => id));
    return [...ids].filter((id) => this.outbox.answers(id)).length;
  }

  /** @param {number} change */
  #countOwn(change) {
    if (this.own !== null) this.own = Math.max(0, this.own + change);
  }

  #changed() {
    this.#saveHistory();
    this.emit();
  }

  /** Undo goes back in order, so nothing is saved from before an item that is too large to save. */
  #saveHistory() {
    const from = this.history.findLastIndex(({ size }) => size > LARGEST_SAVED) + 1;
    writeValue(sessionStorage, `history:${this.campaign}`, this.history.slice(from));
  }
}
