/** Whether the server can be reached. Every request reports here. While it is down, this pings until it is back. */

import { Store } from './store.js';

const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 8_000;

class Connection extends Store {
  up = true;
  /** @type {(() => Promise<unknown>)|null} */
  #ping = null;
  #pause = FIRST_PAUSE;
  #timer = 0;

  constructor() {
    super();
    addEventListener('online', () => this.#soon(0));
    addEventListener('offline', () => this.markDown());
  }

  /** Set the request that checks the server; it resolves if any answer came. @param {() => Promise<unknown>} ping */
  pingWith(ping) {
    this.#ping = ping;
  }

  /** A response came. */
  markUp() {
    this.#pause = FIRST_PAUSE;
    clearTimeout(this.#timer);
    if (this.up) return;
    this.up = true;
    this.emit();
  }

  /** No response came. */
  markDown() {
    if (!this.up) return;
    this.up = false;
    this.emit();
    this.#soon(this.#pause);
  }

  /** @param {number} pause in milliseconds */
  #soon(pause) {
    clearTimeout(this.#timer);
    if (this.up) return;
    this.#timer = setTimeout(async () => {
      await this.#ping?.().catch(() => undefined);
      this.#pause = Math.min(this.#pause * 1.5, LONGEST_PAUSE);
      this.#soon(this.#pause);
    }, pause);
  }
}

export const connection = new Connection();
