/** The frame of every view: skip link, header, messages, and the view of the current route. */

import { html, useEffect, useErrorBoundary, useState } from '../lib/html.js';
import { Loading } from '../parts/loading.js';
import { Messages } from '../parts/messages.js';
import { connection } from '../state/connection.js';
import { go, home, inCampaign, parse, preferences, useRoute, useView } from '../state/router.js';
import { session } from '../state/session.js';
import { useStore } from '../state/store.js';
import { SignInView } from './sign_in.js';

/** @typedef {import('../state/router.js').Route} Route */

/** @typedef {(props: {name: string}) => object} View */

/** Views that are there already. @type {Record<string, View>} */
const VIEWS = {};

/**
 * Views are fetched when somebody goes there, or a little later. What the first one needs is named in lib/preload.js.
 * @type {Record<string, () => Promise<View>>}
 */
const LATER = {
  campaigns: () => import('./campaigns.js').then((module) => module.CampaignsView),
  label: () => import('./label.js').then((module) => module.LabelView),
  new: () => import('./create.js').then((module) => module.CreateView),
  standing: () => import('./standing.js').then((module) => module.StandingView),
  files: () => import('./files.js').then((module) => module.FilesView),
  labels: () => import('./labels.js').then((module) => module.LabelsView),
  settings: () => import('./settings.js').then((module) => module.SettingsView),
  preferences: () => import('./preferences.js').then((module) => module.PreferencesView),
};
LATER[parse(location.hash).view]?.(); // before it is known who is signed in

const SETTLED = 4_000; // milliseconds after which the first view should be there, also over a slow line
const ICON = new URL('../favicon.svg', import.meta.url).href;

export function App() {
  const { known } = useStore(session);
  const { view } = useRoute();
  const labelling = view === 'label' && known && !session.mustSignIn; // that view shows the messages itself
  const [broken] = useErrorBoundary((error) => console.error(error));
  useEffect(() => {
    const timer = known ? setTimeout(fetchLater, SETTLED) : 0;
    return () => clearTimeout(timer);
  }, [known !== null]);
  const skip = (/** @type {Event} */ event) => {
    event.preventDefault(); // the hash is the route
    document.querySelector('main')?.focus();
  };
  return html`
    <a class="skip-link" href="#main" onClick=${skip}>Skip to content</a>
    <${TopBar} />
    ${(broken || !labelling) && html`<${Messages} />`}
    <main id="main" tabindex="-1">${broken ? html`<${Broken} error=${broken} />` : html`<${Main} />`}</main>`;
}

function TopBar() {
  const { known } = useStore(session);
  return html`<header class="top-bar">
    <a class="brand" href=${home}><img src=${ICON} alt="" width="24" height="24" /> modelpicker</a>
    ${known?.demo && html`<span class="pill">demo</span>`}
    <span class="who">
      <a class="top-link" href=${preferences}>Preferences</a>
      ${known?.tokens_needed && known.authenticated && html`
        <span class="quiet-text" dir="auto">${known.name ?? known.role}</span>
        <button type="button" class="quiet" onClick=${() => session.signOut()}>Sign out</button>`}
    </span>
  </header>`;
}

function Main() {
  const { known, error } = useStore(session);
  const route = useRoute();
  const { up } = useStore(connection);
  useEffect(() => {
    if (error && up) session.load();
  }, [up]);
  if (!known) return html`<${Loading} what=${error ? 'as soon as the server is back' : 'modelpicker'} />`;
  if (session.mustSignIn) return html`<${SignInView} />`;
  return html`<${Routed} route=${route} />`;
}

/** The view of a route. A role that may not see it is sent to another one. @param {{route: Route}} props */
function Routed({ route: { view, name } }) {
  const barred = instead(view);
  useEffect(() => {
    if (barred && name !== undefined) go(inCampaign(name, barred));
  }, [barred, name, view]); // from one such view to the next, too
  if (barred) return null;
  const View = view === 'new' && !session.owns ? OwnersOnly : LATER[view] ? Later : Missing;
  return html`<${View} key=${`${view} ${name}`} name=${name} view=${view} />`;
}

/** A view that may have to be fetched first. @param {{view: string, name: string}} props */
function Later({ view, name }) {
  const [View, setView] = useState(/** @type {() => View|null} */ (() => VIEWS[view] ?? null));
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    LATER[view]().then((loaded) => {
      VIEWS[view] = loaded;
      setView(() => loaded);
    }, () => setFailed(true));
  }, [view]);
  if (failed) return html`<${Broken} error=${new Error('A part of the page could not be fetched. It may have been updated.')} />`;
  return View ? html`<${View} name=${name} />` : html`<${Loading} what="this view" />`;
}

/** Fetch the other views: going there is quick, also if the server is away by then. */
function fetchLater() {
  for (const fetchView of Object.values(LATER)) fetchView().catch(() => undefined); // whoever goes there is told
}

/** @type {Route['view'][]} */
const TABS_OF_READERS = ['standing', 'labels', 'files', 'settings'];

/** The view that this role sees instead, if any. @param {Route['view']} view @returns {Tab|null} */
function instead(view) {
  return TABS_OF_READERS.includes(view) && !session.seesStanding ? 'label' : null;
}

function OwnersOnly() {
  useView('New campaign', 'new');
  return html`<div class="card empty"><h1 tabindex="-1">Only owners create campaigns</h1>
    <p>You are signed in as ${session.known?.role}. Whoever runs this server can give you a token of an owner.</p>
    <p class="actions"><a class="button primary" href=${home}>All campaigns</a></p></div>`;
}

function Missing() {
  useView('Not found', 'missing');
  return html`<div class="card empty"><h1 tabindex="-1">Not found</h1><p>There is nothing at this address.</p>
    <p class="actions"><a class="button primary" href=${home}>All campaigns</a></p></div>`;
}

/** @param {{error: Error}} props */
function Broken({ error }) {
  return html`<div class="card empty" role="alert"><h1 tabindex="-1">The page broke</h1>
    <p>Nothing that you labelled is lost. ${String(error?.message ?? error)}</p>
    <p class="actions"><button type="button" class="primary" onClick=${() => location.reload()}>Reload</button></p>
  </div>`;
}
