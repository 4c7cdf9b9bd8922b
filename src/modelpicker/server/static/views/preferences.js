/** Preferences: the theme of this browser; and for owners, who may use the server. */

import { html, useState } from '../lib/html.js';
import { Input, Select } from '../parts/fields.js';
import { Failure, Loading, useLoaded } from '../parts/loading.js';
import { api } from '../state/api.js';
import { useView } from '../state/router.js';
import { session } from '../state/session.js';
import { useStore } from '../state/store.js';
import { theme } from '../state/theme.js';

/** @typedef {import('../state/theme.js').Choice} Choice */

/** @type {[Choice, string][]} */
const THEMES = [['system', 'As the system'], ['light', 'Light'], ['dark', 'Dark']];
/** @type {[string, string][]} */
const ROLES = [['annotator', 'annotator: labels'], ['reader', 'reader: sees everything, changes nothing'],
  ['owner', 'owner: does everything']];

export function PreferencesView() {
  useView('Preferences', 'preferences');
  return html`<div class="campaigns-view">
    <h1 tabindex="-1">Preferences</h1>
    <${ThemeChoice} />
    ${session.owns && html`<${Tokens} />`}
  </div>`;
}

function ThemeChoice() {
  const { choice } = useStore(theme);
  return html`<section class="card"><fieldset>
    <legend>Theme</legend>
    <div class="choices">${THEMES.map(([value, title]) => html`<label class="choice" key=${value}>
      <input type="radio" name="theme" value=${value} checked=${choice === value} onChange=${() => theme.choose(value)} />
      ${title}</label>`)}</div>
    <p class="quiet-text">It is kept in this browser.</p>
  </fieldset></section>`;
}

/** Tokens: who may use the server. */
function Tokens() {
  const { value, error, again } = useLoaded(api.tokens, []);
  const [made, setMade] = useState(/** @type {Api.MadeToken|null} */ (null));
  const [failed, setFailed] = useState(/** @type {Error|null} */ (null));
  const revoke = (/** @type {string} */ name) => api.dropToken(name).then(() => setFailed(null), setFailed).then(again);
  if (error?.temporary === false) return html`<${Failure} error=${error} again=${again} />`;
  return html`<section class="card tokens" aria-labelledby="tokens-title">
    <h2 id="tokens-title">Tokens</h2>
    <p class="quiet-text">Whoever has a token may use this server, as far as its role allows.
      ${!session.known?.tokens_needed && ' This server runs for this computer only, and asks for no token.'}</p>
    ${value ? html`<${TokenTable} tokens=${value} revoke=${revoke} />` : html`<${Loading} what="the tokens" error=${error} />`}
    <p class="form-error" role="alert">${failed?.message}</p>
    ${made && html`<${Made} made=${made} />`}
    <${NewToken} done=${(/** @type {Api.MadeToken} */ token) => { setMade(token); again(); }} />
  </section>`;
}

/** @param {{tokens: Api.TokenDocument[], revoke: (name: string) => void}} props */
function TokenTable({ tokens, revoke }) {
  const [asked, setAsked] = useState('');
  if (!tokens.length) return html`<p>There is no token yet.</p>`;
  return html`<ul class="token-list">${tokens.map(({ name, role, predictions, created }) => html`<li key=${name}>
    <span><strong dir="auto">${name}</strong> <span class="quiet-text">${role}${role === 'annotator' && predictions
      && ', sees predictions'} · since ${created.slice(0, 10)}</span></span>
    ${name === session.known?.name ? html`<span class="quiet-text">this is you</span>`
      : asked === name
        ? html`<span class="actions"><button type="button" class="danger" onClick=${() => revoke(name)}>Revoke permanently</button>
            <button type="button" onClick=${() => setAsked('')}>Keep</button></span>`
        : html`<button type="button" onClick=${() => setAsked(name)}>Revoke<span class="sr-only"> ${name}</span></button>`}
  </li>`)}</ul>`;
}

/** The only time that a token is shown. @param {{made: Api.MadeToken}} props */
function Made({ made }) {
  return html`<div class="made-token" role="status">
    <p>The token of <strong dir="auto">${made.name}</strong>. Copy it now: it is not shown again.</p>
    <p class="actions"><code>${made.token}</code>
      <button type="button" onClick=${() => navigator.clipboard?.writeText(made.token)}>Copy</button></p>
  </div>`;
}

/** @param {{done: (made: Api.MadeToken) => void}} props */
function NewToken({ done }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState('annotator');
  const [sees, setSees] = useState(false);
  const [error, setError] = useState(/** @type {Error|null} */ (null));
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    setError(null);
    const wanted = /** @type {Api.NewToken} */ ({ name: name.trim(), role, predictions: role === 'annotator' && sees });
    api.makeToken(wanted).then((made) => { setName(''); done(made); }, setError);
  };
  return html`<form class="new-token" onSubmit=${submit}>
    <div class="two">
      <${Input} label="Whose" value=${name} set=${setName} required maxlength="100" autocomplete="off" />
      <${Select} label="Role" value=${role} set=${setRole} options=${ROLES} />
    </div>
    ${role === 'annotator' && html`<label class="choice"><input type="checkbox" checked=${sees}
      onChange=${(event) => setSees(event.currentTarget.checked)} /> may see what the models say</label>`}
    <p class="form-error" role="alert">${error?.message}</p>
    <p class="actions"><button class="primary">Make a token</button></p>
  </form>`;
}
