/** The standing of a campaign, updated live by server-sent events. */

import { useEffect, useState } from '../lib/html.js';
import { api, liveUrl } from './api.js';
import { connection } from './connection.js';

const RETRY = 3_000;

/**
 * @typedef {{standing: Api.StandingDocument|null, charts: Api.ChartsDocument|null,
 *            state: 'connecting'|'live'|'lost', error: RequestError|null}} Seen
 */

/** @type {Seen} */
const NOTHING = { standing: null, charts: null, state: 'connecting', error: null };

/**
 * Follow a campaign while the tab is visible. Browsers allow few connections to one host, so hidden tabs must not hold
 * any.
 * @param {string} name
 * @returns {Seen}
 */
export function useLiveStanding(name) {
  const [seen, setSeen] = useState(NOTHING);
  useEffect(() => {
    setSeen(NOTHING);
    return follow(name, (change) => setSeen((before) => ({ ...before, ...change })));
  }, [name]);
  return seen;
}

/**
 * Report what comes until the returned function is called.
 * @param {string} name @param {(change: Partial<Seen>) => void} report
 */
function follow(name, report) {
  /** @type {EventSource|null} */
  let source = null;
  let timer = 0;
  const tell = paced(report);

  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  const open = () => {
    close();
    if (document.visibilityState !== 'visible') return;
    source = new EventSource(liveUrl(name));
    source.onopen = () => {
      connection.markUp();
      tell({ state: 'live', error: null });
    };
    source.addEventListener('standing', ({ data }) => tell({ standing: JSON.parse(data) }));
    source.addEventListener('charts', ({ data }) => tell({ charts: JSON.parse(data) }));
    source.onerror = () => {
      tell({ state: 'lost' });
      if (source?.readyState === EventSource.CLOSED) check();
    };
  };
  // An EventSource does not say why it failed; an ordinary request does.
  const check = () => api.standing(name).then(
    () => { timer = setTimeout(open, RETRY); },
    (error) => (error.temporary ? (timer = setTimeout(check, RETRY)) : tell({ error })),
  );

  open();
  document.addEventListener('visibilitychange', open);
  const unsubscribe = connection.subscribe(() => connection.up && source?.readyState !== EventSource.OPEN && open());
  return () => {
    document.removeEventListener('visibilitychange', open);
    unsubscribe();
    close();
  };
}

/** At most one report per frame, with the latest of everything. @param {(change: Partial<Seen>) => void} report */
function paced(report) {
  /** @type {Partial<Seen>|null} */
  let waiting = null;
  return (/** @type {Partial<Seen>} */ change) => {
    if (waiting === null) {
      requestAnimationFrame(() => {
        const all = waiting ?? {};
        waiting = null;
        report(all);
      });
    }
    waiting = { ...waiting, ...change };
  };
}
