/** Who is signed in, and what that lets them see and do. */

import { api, whenSignedOut } from './api.js';
import { notices } from './notices.js';
import { signedInAs } from './outbox.js';
import { post } from './post.js';
import { Store } from './store.js';

class Session extends Store {
  /** The server's answer; null until there is one. */
  known = null;
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
      this.error = error;
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

  #set(known) {
    this.known = known;
    this.error = null;
    signedInAs(this.mustSignIn ? undefined : known.name);
    post.flush();
    this.emit();
  }

  get mustSignIn() {
    return this.known.tokens_needed && !this.known.authenticated;
  }

  /** Labelling is for owners and annotators. */
  get labels() {
    return this.known.role !== 'reader';
  }

  /** Standing, history and export are for owners and readers. */
  get seesStanding() {
    return this.known.role !== 'annotator';
  }

  /** Creating and uploading are for owners. */
  get owns() {
    return this.known.role === 'owner' || (this.known.role === null && !this.known.tokens_needed);
  }
}

export const session = new Session();
