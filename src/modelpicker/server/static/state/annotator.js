/**
 * Who labels: a name that people may type, and the id of the tab. A lease belongs to an annotator, so two tabs must
 * never share an id. A reload keeps the id, to get the same items again. What stands before the slash is the person:
 * where several people label an item, two tabs of one browser are not two people.
 */

import { readValue, writeValue } from './browser_storage.js';
import { Store } from './store.js';

const ANSWER_TIME = 60; // milliseconds that other tabs have to say that an id is taken

const fresh = () => crypto.getRandomValues(new Uint32Array(1))[0].toString(16).padStart(8, '0');

/** The id of this browser. @param {string} id */
function keptForGood(id) {
  writeValue(localStorage, 'browser', id);
  return id;
}

class Annotator extends Store {
  name = readValue(localStorage, 'name', '').replaceAll('/', '-');
  tab = readValue(sessionStorage, 'tab', null) ?? fresh();
  #browser = readValue(localStorage, 'browser', null) ?? keptForGood(fresh());
  #self = fresh();
  /** Resolves when no other tab has this id. */
  ready = this.#claim();

  /** The name under which leases and labels are recorded, such as "mia/4f2c81aa". */
  get id() {
    return `${this.name || `page-${this.#browser}`}/${this.tab}`;
  }

  /** @param {string} name */
  rename(name) {
    this.name = name.trim().replaceAll('/', '-').slice(0, 60);
    writeValue(localStorage, 'name', this.name || undefined);
    this.emit();
  }

  /** A duplicated tab starts with the session storage of the first tab, and so with its id. It takes a new id. */
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
    writeValue(sessionStorage, 'tab', this.tab);
  }
}

export const annotator = new Annotator();
