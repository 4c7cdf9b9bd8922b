/** The list of problems that the user has not dismissed yet. */

import { html } from '../lib/html.js';
import { notices } from '../state/notices.js';
import { useStore } from '../state/store.js';

/** The notices, as an alert for screen readers. */
export function NoticeList() {
  const { list } = useStore(notices);
  return html`<div class="notices" role="alert">
    ${list.map(({ id, text }) => html`<div class="notice" key=${id}>
      <p dir="auto">${text}</p>
      <button type="button" class="quiet" onClick=${() => notices.dismiss(id)}>Dismiss</button>
    </div>`)}
  </div>`;
}
