/** The theme: as the system has it, or chosen by hand. It is a matter of this browser. */

import { readValue, writeValue } from './browser_storage.js';
import { Store } from './store.js';

/** @typedef {'system'|'light'|'dark'} Choice */

class Theme extends Store {
  /** @type {Choice} */
  choice = readValue(localStorage, 'theme', 'system');

  constructor() {
    super();
    this.#apply();
  }

  /** @param {Choice} choice */
  choose(choice) {
    this.choice = choice;
    writeValue(localStorage, 'theme', choice === 'system' ? undefined : choice);
    this.#apply();
    this.emit();
  }

  #apply() {
    const { dataset } = document.documentElement;
    if (this.choice === 'system') delete dataset.theme;
    else dataset.theme = this.choice;
  }
}

export const theme = new Theme();
