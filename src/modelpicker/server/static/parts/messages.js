/** What is wrong just now: the connection, and what went wrong before. */

import { count } from '../lib/format.js';
import { html } from '../lib/html.js';
import { link } from '../state/connection.js';
import { post } from '../state/outboxes.js';
import { useStore } from '../state/store.js';
import { NoticeList } from './notice_list.js';

/** Above the view; while one labels, over the item, so that no button moves. */
export function Messages() {
  return html`<div class="messages"><${Connection} /><${NoticeList} /></div>`;
}

/** Told as soon as the server is away, and what that means for what was labelled. */
function Connection() {
  const { up } = useStore(link);
  const { waiting, trouble } = useStore(post);
  const answers = `${count(waiting, 'answer')} ${waiting === 1 ? 'waits' : 'wait'} to be sent.`;
  const words = () => {
    if (up) return trouble && `${answers} ${trouble}`;
    return waiting ? `Offline: ${answers}` : 'Offline: the server cannot be reached. Trying again …';
  };
  return html`<div class="connection" role="status">${words()}</div>`;
}
