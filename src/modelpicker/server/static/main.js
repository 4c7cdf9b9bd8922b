/** Where the page starts. */

import { html, render } from './html.js';
import { post } from './post.js';
import { session } from './session.js';
import { App } from './shell.js';

post.start(); // answers of an earlier visit go first
session.load();
render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById('app')));
