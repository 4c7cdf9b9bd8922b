/** Problems that the user should know about. Every view shows them until they are dismissed. */

import { Store } from './store.js';

const MOST = 4;

class Notices extends Store {
  /** @type {{id: number, text: string}[]} */
  list = [];
  #next = 0;

  /** @param {string} text */
  add(text) {
    this.list = [...this.list.filter((notice) => notice.text !== text), { id: this.#next++, text }].slice(-MOST);
    this.emit();
  }

  /** @param {number} id */
  dismiss(id) {
    this.list = this.list.filter((notice) => notice.id !== id);
    this.emit();
  }
}

export const notices = new Notices();
