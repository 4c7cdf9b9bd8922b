/** Who is signed in, and what this role may see and do. */

import { api, whenSignedOut } from './api.js';
import { notices } from './notices.js';
import { signedInAs } from './outbox.js';
import { outboxes } from './outboxes.js';
import { Store } from './store.js';

class Session extends Store {
  /** The server's answer; null until there is one. @type {Api.SessionDocument|null} */
  known = null;
  /** @type {RequestError|null} */
  error = null;

  constructor() {
    super();
    whenSignedOut(() => this.load());
  }

  /** Ask the server. */
  async load() {
    try {
      this.#set(await api.session());
    } catch (error) {
      this.error = /** @type {RequestError} */ (error);
      this.emit();
    }
  }

  /** @param {string} token */
  async signIn(token) {
    this.#set(await api.signIn(token));
  }

  async signOut() {
    await api.signOut().catch((error) => notices.add(`You are still signed in. ${error.message}`));
    await this.load();
  }

  /** @param {Api.SessionDocument} known */
  #set(known) {
    this.known = known;
    this.error = null;
    signedInAs(this.mustSignIn ? undefined : known.name);
    outboxes.flush();
    this.emit();
  }

  /** The server's answer, for views that are only shown when there is one. */
  get #answer() {
    if (!this.known) throw new Error('The server has not said yet who is signed in.');
    return this.known;
  }

  get mustSignIn() {
    return this.#answer.tokens_needed && !this.#answer.authenticated;
  }

  /** Labelling is for owners and annotators. */
  get labels() {
    return this.#answer.role !== 'reader';
  }

  /** Standing, history and export are for owners and readers. */
  get seesStanding() {
    return this.#answer.role !== 'annotator';
  }

  /** Creating and uploading are for owners. */
  get owns() {
    return this.#answer.role === 'owner' || (this.#answer.role === null && !this.#answer.tokens_needed);
  }
}

export const session = new Session();
