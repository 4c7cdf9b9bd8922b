/** Where one is, kept in the hash, so that a reload lands on the same spot and the server needs no routes. */

import { useEffect, useState } from './html.js';

/** @typedef {{view: 'campaigns'|'new'|'label'|'standing'|'files'|'missing', name?: string}} Route */

const TABS = ['label', 'standing', 'files'];

/** @param {string} hash @returns {Route} */
export function parse(hash) {
  const parts = hash.replace(/^#?\/?/, '').split('/').map(decoded);
  if (parts.length === 1 && parts[0] === '') return { view: 'campaigns' };
  if (parts.length === 1 && parts[0] === 'new') return { view: 'new' };
  if (parts[0] === 'c' && parts.length === 3 && parts[1] && TABS.includes(parts[2])) {
    return { view: parts[2], name: parts[1] };
  }
  return { view: 'missing' };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a stray % typed by hand
  }
}

export const home = '#/';
export const newCampaign = '#/new';
/** @param {string} name @param {'label'|'standing'|'files'} tab */
export const inCampaign = (name, tab) => `#/c/${encodeURIComponent(name)}/${tab}`;

/** Go to a hash that one of the above gave. @param {string} hash */
export function go(hash) {
  location.hash = hash;
}

/** The route of now. @returns {Route} */
export function useRoute() {
  const [route, setRoute] = useState(() => parse(location.hash));
  useEffect(() => {
    const changed = () => {
      setRoute(parse(location.hash));
      scrollTo(0, 0);
    };
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return route;
}

/** Name the window, and after a change of view put the focus on its heading, where a screen reader goes on. */
export function useView(title, key) {
  useEffect(() => {
    document.title = `${title} · modelpicker`;
  }, [title]);
  useEffect(() => {
    const first = useView.last === undefined;
    const moved = useView.last !== key;
    useView.last = key;
    if (moved && !first) document.querySelector('h1')?.focus({ preventScroll: true });
  }, [key]);
}
