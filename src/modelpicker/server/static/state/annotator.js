/**
 * Who labels: a name that one may type, and the tab. Leases go by the annotator, so two tabs must never be the same
 * one; and a reload must stay the same one, to be given the same items again.
 */

import { keep, read } from './browser_storage.js';
import { Store } from './store.js';

const ANSWER_TIME = 60; // milliseconds in which another tab says that an id is taken

const fresh = () => crypto.getRandomValues(new Uint32Array(1))[0].toString(16).padStart(8, '0');

class Annotator extends Store {
  name = read(localStorage, 'name', '');
  tab = read(sessionStorage, 'tab', null) ?? fresh();
  #self = fresh();
  /** Settled once it is sure that no other tab has this id. */
  ready = this.#claim();

  /** What leases and labels go by, such as "mia-4f2c81aa". */
  get id() {
    return `${this.name || 'page'}-${this.tab}`;
  }

  /** @param {string} name */
  rename(name) {
    this.name = name.trim().slice(0, 60);
    keep(localStorage, 'name', this.name || undefined);
    this.emit();
  }

  /** A tab that was duplicated has the session storage of the first one, and so its id: it takes a new one. */
  async #claim() {
    const channel = new BroadcastChannel('modelpicker');
    let taken = false;
    channel.onmessage = ({ data }) => {
      if (data.tab !== this.tab || data.from === this.#self) return;
      if (data.kind === 'claim') channel.postMessage({ kind: 'taken', tab: this.tab, from: this.#self });
      else taken = true;
    };
    channel.postMessage({ kind: 'claim', tab: this.tab, from: this.#self });
    await new Promise((done) => { setTimeout(done, ANSWER_TIME); });
    if (taken) this.tab = fresh();
    keep(sessionStorage, 'tab', this.tab);
  }
}

export const annotator = new Annotator();
