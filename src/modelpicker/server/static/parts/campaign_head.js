/** The heading of a campaign's views: its name, and tabs for the views that this role may see. */

import { html } from '../lib/html.js';
import { inCampaign, useView } from '../state/router.js';
import { session } from '../state/session.js';

const TITLES = { label: 'Label', standing: 'Standing', labels: 'Labels', files: 'Files', settings: 'Settings' };

/** @param {{name: string, tab: Tab, children?: object}} props */
export function CampaignHead({ name, tab, children }) {
  useView(`${TITLES[tab]} · ${name}`, `${tab} ${name}`);
  const own = [...(session.labels ? ['label'] : []), ...(session.seesStanding ? ['standing', 'labels', 'files', 'settings'] : [])];
  const tabs = /** @type {Tab[]} */ (own);
  return html`<header class="campaign-head">
    <div class="title-row">
      <h1 tabindex="-1" dir="auto"><span class="sr-only">${TITLES[tab]}: </span>${name}</h1>
      ${children}
    </div>
    ${tabs.length > 1 && html`<nav class="tabs" aria-label="Campaign">
      ${tabs.map((other) => html`<a key=${other} href=${inCampaign(name, other)}
        aria-current=${other === tab ? 'page' : undefined}>${TITLES[other]}</a>`)}
    </nav>`}
  </header>`;
}
