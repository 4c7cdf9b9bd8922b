/** What is wrong just now: the connection, and what went wrong before. */

import { html } from './html.js';
import { link } from './link.js';
import { NoticeList } from './notices.js';
import { post } from './post.js';
import { useStore } from './store.js';
import { count } from './words.js';

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
