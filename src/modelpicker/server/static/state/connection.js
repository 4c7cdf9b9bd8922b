/** Is the server there? Every request reports here; while it is away, this asks until it is back. */

import { Store } from './store.js';

const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 8_000;

class Link extends Store {
  up = true;
  /** @type {(() => Promise<unknown>)|null} */
  #ask = null;
  #pause = FIRST_PAUSE;
  #timer = 0;

  constructor() {
    super();
    addEventListener('online', () => this.#soon(0));
    addEventListener('offline', () => this.down());
  }

  /** How to ask; resolves if the server answered anything at all. @param {() => Promise<unknown>} ask */
  askWith(ask) {
    this.#ask = ask;
  }

  /** A response came. */
  alive() {
    this.#pause = FIRST_PAUSE;
    clearTimeout(this.#timer);
    if (this.up) return;
    this.up = true;
    this.emit();
  }

  /** No response came. */
  down() {
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
      await this.#ask?.().catch(() => undefined);
      this.#pause = Math.min(this.#pause * 1.5, LONGEST_PAUSE);
      this.#soon(this.#pause);
    }, pause);
  }
}

export const link = new Link();
