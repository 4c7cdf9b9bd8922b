/** The form to sign in with a token. */

import { html, useState } from '../lib/html.js';
import { Field } from '../parts/fields.js';
import { useView } from '../state/router.js';
import { session } from '../state/session.js';

export function SignInView() {
  useView('Sign in', 'sign in');
  const [token, setToken] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(/** @type {RequestError|null} */ (null));
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    await session.signIn(token.trim()).catch(setError);
    setBusy(false);
  };
  return html`<form class="card form sign-in" onSubmit=${submit} aria-busy=${busy}>
    <h1 tabindex="-1">Sign in</h1>
    <p>This server asks for a token. Whoever runs it can give you one.</p>
    <${Field} label="Token">
      ${(own) => html`<input ...${own} type="password" required autocomplete="current-password" placeholder="mp_…"
        value=${token} onInput=${(event) => setToken(event.currentTarget.value)} />`}
    <//>
    <p class="form-error" role="alert">${error && explain(error)}</p>
    <p class="actions"><button class="primary" disabled=${busy}>Sign in</button></p>
  </form>`;
}

/** @param {RequestError} error */
function explain({ status, message, retryAfter }) {
  if (status !== 429 || retryAfter === null) return message;
  return `${message} Try again in ${Math.ceil(retryAfter)} seconds.`;
}
