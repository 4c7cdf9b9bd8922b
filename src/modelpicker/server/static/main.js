/** Where the page starts. */

import { html, render } from './lib/html.js';
import { outboxes } from './state/outboxes.js';
import { session } from './state/session.js';
import './state/theme.js';
import { App } from './views/app.js';

outboxes.start(); // answers of an earlier visit go first
session.load();
const place = /** @type {HTMLElement} */ (document.getElementById('app'));
place.replaceChildren(); // what index.html shows until now
render(html`<${App} />`, place);
