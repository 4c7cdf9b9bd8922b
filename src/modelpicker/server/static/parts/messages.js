/** Messages about problems: the state of the connection, and the notices. */

import { count } from '../lib/format.js';
import { html } from '../lib/html.js';
import { connection } from '../state/connection.js';
import { outboxes } from '../state/outboxes.js';
import { useStore } from '../state/store.js';
import { NoticeList } from './notice_list.js';

/** Shown above the view. In the labelling view they lie over the item, so that no button moves. */
export function Messages() {
  return html`<div class="messages"><${ConnectionStatus} /><${NoticeList} /></div>`;
}

/** Whether the server is away, and how many answers wait to be sent. */
function ConnectionStatus() {
  const { up } = useStore(connection);
  const { waiting, trouble } = useStore(outboxes);
  const answers = `${count(waiting, 'answer')} ${waiting === 1 ? 'waits' : 'wait'} to be sent.`;
  const words = () => {
    if (up) return trouble && `${answers} ${trouble}`;
    return waiting ? `Offline: ${answers}` : 'Offline: the server cannot be reached. Trying again …';
  };
  return html`<div class="connection" role="status">${words()}</div>`;
}
