/** What an owner can do once it may stop: finish, read the report, ask about more, continue. */

import { count } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { api, reportUrl } from '../state/api.js';

const FEW = 10;

/** The report, in a tab of its own. @param {{name: string, main?: boolean}} props */
export function ReportLink({ name, main = false }) {
  return html`<a class=${main ? 'button primary' : 'button'} href=${reportUrl(name)} target="_blank" rel="noopener">
    Report</a>`;
}

/**
 * A button that changes the campaign, and says so if that fails.
 * @param {{name: string, terms: Api.NewTerms, words: string, main?: boolean, done?: () => void}} props
 */
export function ChangeButton({ name, terms, words, main = false, done = () => undefined }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState('');
  const change = async () => {
    setBusy(true);
    setError('');
    await api.revise(name, terms).then(done, (problem) => setError(problem.message));
    setBusy(false);
  };
  return html`<button type="button" class=${main ? 'primary' : ''} disabled=${busy} onClick=${change}>${words}</button>
    ${error && html`<span class="form-error" role="alert" dir="auto">${error}</span>`}`;
}

/** Take the result: nobody is asked any more. @param {{name: string, main?: boolean, done?: () => void}} props */
export const Finish = ({ name, main = true, done }) => html`<${ChangeButton} name=${name} main=${main} done=${done}
  terms=${{ finished: true }} words="Finish" />`;

/** Continue with a campaign that was finished. @param {{name: string, done?: () => void}} props */
export const GoOn = ({ name, done }) => html`<${ChangeButton} name=${name} done=${done} terms=${{ finished: false }}
  words="Continue labelling" />`;

/**
 * More labels of a pool whose labels are spent: as many as the server offers, which says what they would buy.
 * @param {{name: string, budget: number, offered: Api.OutlookDocument|null, main?: boolean, done?: () => void}} props
 */
export function AskMore({ name, budget, offered, main = false, done }) {
  const more = offered?.labels ?? Math.max(FEW, Math.round(budget / 2 / FEW) * FEW);
  return html`<${ChangeButton} name=${name} main=${main} done=${done} terms=${{ budget: budget + more }}
    words=${`Ask about ${count(more, 'more item')}`.replace('more items', 'more')} />`;
}
