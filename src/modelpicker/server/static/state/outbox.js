/**
 * Answers and notes that the server has not confirmed yet. They are saved in the browser and sent in order. Each is sent again
 * until the server accepts or refuses it. Sending an answer twice does no harm.
 */

import { api } from './api.js';
import { readValue, writeValue } from './browser_storage.js';
import { connection } from './connection.js';
import { Store } from './store.js';

/**
 * @typedef {{kind: 'label'|'skip'|'retract'|'note', id: number, label?: Answer, note?: Api.OwnNote, annotator: string,
 *   tried?: boolean, by?: string|null}} Entry
 * @typedef {{campaign: string, beat: number, entries: Entry[]}} Saved
 * @typedef {Api.Told|Api.Retracted|Api.Noted} Reply
 */

/**
 * Who is signed in: null if the server needs no tokens, undefined if nobody is. An answer is only sent by the person
 * who gave it.
 * @type {string|null|undefined}
 */
let author;

/** @param {string|null|undefined} name */
export function signedInAs(name) {
  author = name;
}

const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;
const LEASE = 300;

/** Send an entry. @param {string} campaign @param {Entry} entry @returns {Promise<Reply>} */
function send(campaign, { kind, id, annotator, ...rest }) {
  const label = /** @type {Answer} */ (rest.label); // an entry of this kind has one
  if (kind === 'label') return api.label(campaign, { id, label, annotator, replace: false });
  if (kind === 'note') return api.note(campaign, { id, annotator, ...{ text: '', flagged: false, ...rest.note } });
  if (kind === 'skip') return api.skip(campaign, { id, annotator });
  return api.retract(campaign, { id, annotator, lease: LEASE });
}

/** The saved outbox of this tab or another one. @param {string} key @returns {Saved|null} */
export const readSaved = (key) => readValue(localStorage, key, null);

/** The answers of one campaign. It calls `onSent(entry, reply)` and `onRefused(entry, error)`. */
export class Outbox extends Store {
  /** @type {(entry: Entry, reply: Reply) => void} */
  onSent = () => undefined;
  /** @type {(entry: Entry, error: Error) => void} */
  onRefused = () => undefined;
  /** Why the first one could not be sent, while it is tried again. @type {string|null} */
  trouble = null;
  #sending = false;
  #pause = FIRST_PAUSE;
  #timer = 0;

  /** @param {string} campaign @param {string} key under which it is saved */
  constructor(campaign, key) {
    super();
    this.campaign = campaign;
    this.key = key;
    /** @type {Entry[]} */
    this.entries = readSaved(key)?.entries ?? [];
    connection.subscribe(() => connection.up && this.flush());
  }

  /** How many items have answers that wait to be sent. */
  get waiting() {
    return new Set(this.entries.map((entry) => entry.id)).size;
  }

  /** The last answer to an item that waits here, or what takes it back. @param {number} id */
  #lastAnswer(id) {
    return this.entries.findLast((entry) => entry.id === id && entry.kind !== 'note');
  }

  /** Whether the answer to an item waits here. Then the item need not be shown. @param {number} id */
  answers(id) {
    const last = this.#lastAnswer(id);
    return last !== undefined && last.kind !== 'retract';
  }

  /** Whether an answer to an item waits here, or what takes one back. @param {number} id */
  concerns(id) {
    return this.#lastAnswer(id) !== undefined;
  }

  /** Whether nothing waits but notes: then the server knows every answer. */
  get settled() {
    return this.entries.every(({ kind }) => kind === 'note');
  }

  /** The note about an item that waits here. @param {number} id @returns {Api.OwnNote|undefined} */
  noteOn(id) {
    return this.entries.findLast((entry) => entry.id === id && entry.kind === 'note')?.note;
  }

  /** Keep a note about an item, in place of one that was not sent yet. @param {Entry} entry */
  addNote(entry) {
    this.entries = this.entries.filter(({ id, kind, tried }) => id !== entry.id || kind !== 'note' || tried);
    this.add(entry);
  }

  /** @param {Entry} entry */
  add(entry) {
    this.#change([...this.entries, { ...entry, by: author ?? null }]);
    this.flush();
  }

  /**
   * Undo the answer to an item: delete it if no request was sent, else send a retraction after it.
   * @param {number} id @param {string} annotator
   */
  undo(id, annotator) {
    const last = this.#lastAnswer(id);
    if (last && last.kind !== 'retract' && !last.tried) this.#change(this.entries.filter((entry) => entry !== last));
    else this.add({ kind: 'retract', id, annotator });
  }

  /** Take over the answers of a closed tab. @param {Entry[]} entries */
  adopt(entries) {
    this.#change([...this.entries, ...entries]);
    this.flush();
  }

  /** Save the time, to show that this tab is alive. Then no other tab takes over its answers. */
  beat() {
    if (this.entries.length) this.#save();
  }

  /** Send what waits. */
  async flush() {
    if (this.#sending) return;
    clearTimeout(this.#timer);
    this.#sending = true;
    try {
      let going = true;
      while (going && this.entries.length && navigator.onLine) going = await this.#sendFirst();
    } finally {
      this.#sending = false;
    }
  }

  async #sendFirst() {
    const entry = this.entries.find(({ by = null }) => by === author);
    if (!entry) return this.#notOurs();
    entry.tried = true; // from now on the server may have it, even if no response comes
    this.#save();
    try {
      const reply = await send(this.campaign, entry);
      this.#pause = FIRST_PAUSE;
      this.trouble = null;
      this.#change(this.entries.filter((other) => other !== entry));
      this.onSent(entry, reply);
      return true;
    } catch (thrown) {
      const error = /** @type {RequestError} */ (thrown);
      if (error.temporary === true) return this.#later(error);
      this.#refused(entry, error);
      return true;
    }
  }

  /** Somebody else gave the remaining answers, and has to sign in again. */
  #notOurs() {
    const { by } = this.entries[0];
    this.trouble = by ? `Given by ${by}, who has to sign in to send that.` : 'Sign in to send that.';
    this.emit();
    return false;
  }

  /** @param {RequestError} error */
  #later(error) {
    const pause = Math.max(this.#pause, (error.retryAfter ?? 0) * 1_000);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
    this.#timer = setTimeout(() => this.flush(), pause);
    this.trouble = `${error.message} Trying again …`;
    this.emit();
    return false;
  }

  /**
   * Later entries about the same item are dropped too: to retract a refused answer would retract somebody else's.
   * @param {Entry} entry @param {Error} error
   */
  #refused(entry, error) {
    this.trouble = null;
    const alone = entry.kind === 'retract' || entry.kind === 'note';
    const followers = alone ? [] : this.entries.filter(({ id, kind }) => id === entry.id && kind !== 'note');
    this.#change(this.entries.filter((other) => other !== entry && !followers.includes(other)));
    this.onRefused(entry, error);
  }

  /** @param {Entry[]} entries */
  #change(entries) {
    this.entries = entries;
    this.#save();
    this.emit();
  }

  #save() {
    const { campaign, entries } = this;
    writeValue(localStorage, this.key, entries.length ? { campaign, beat: Date.now(), entries } : undefined);
  }
}
