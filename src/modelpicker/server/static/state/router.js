/** Where one is, kept in the hash, so that a reload lands on the same spot and the server needs no routes. */

import { useEffect, useState } from '../lib/html.js';

/** @typedef {{view: 'campaigns'|'new'|'missing', name?: undefined}|{view: Tab, name: string}} Route */

/** @type {Tab[]} */
const TABS = ['label', 'standing', 'files'];

/** @param {string} hash @returns {Route} */
export function parse(hash) {
  const parts = hash.replace(/^#?\/?/, '').split('/').map(decoded);
  if (parts.length === 1 && parts[0] === '') return { view: 'campaigns' };
  if (parts.length === 1 && parts[0] === 'new') return { view: 'new' };
  const view = TABS.find((tab) => tab === parts[2]);
  if (parts[0] === 'c' && parts.length === 3 && parts[1] && view) return { view, name: parts[1] };
  return { view: 'missing' };
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a stray % typed by hand
  }
}

export const home = '#/';
export const newCampaign = '#/new';
/** @param {string} name @param {Tab} tab */
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

/** The view that was shown last. @type {string|undefined} */
let last;

/**
 * Name the window, and after a change of view put the focus on its heading, where a screen reader goes on.
 * @param {string} title @param {string} key of the view
 */
export function useView(title, key) {
  useEffect(() => {
    document.title = `${title} · modelpicker`;
  }, [title]);
  useEffect(() => {
    const first = last === undefined;
    const moved = last !== key;
    last = key;
    if (moved && !first) document.querySelector('h1')?.focus({ preventScroll: true });
  }, [key]);
}
