/** The current route, in the hash of the address. A reload shows the same view, and the server needs no routes. */

import { useEffect, useState } from '../lib/html.js';

/** @typedef {{view: 'campaigns'|'new'|'preferences'|'missing', name?: undefined}|{view: Tab, name: string}} Route */

/** @type {Tab[]} */
const TABS = ['label', 'standing', 'labels', 'files', 'settings'];

/** @param {string} hash @returns {Route} */
export function parse(hash) {
  const parts = hash.replace(/^#?\/?/, '').split('/').map(decoded);
  if (parts.length === 1 && parts[0] === '') return { view: 'campaigns' };
  if (parts.length === 1 && parts[0] === 'new') return { view: 'new' };
  if (parts.length === 1 && parts[0] === 'preferences') return { view: 'preferences' };
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
export const preferences = '#/preferences';
/** @param {string} name @param {Tab} tab */
export const inCampaign = (name, tab) => `#/c/${encodeURIComponent(name)}/${tab}`;

/** Go to one of the hashes above. @param {string} hash */
export function go(hash) {
  location.hash = hash;
}

/** The current route. @returns {Route} */
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
 * Set the window's title. After a change of view, put the focus on its heading, so that a screen reader starts there.
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
