/** The standing, live: which model leads, how certain that is, and what to do next. */

import { count, number } from '../lib/format.js';
import { html } from '../lib/html.js';
import { CampaignHead } from '../parts/campaign_head.js';
import { Disagreement } from '../parts/disagreement.js';
import { certainty, headline, leftOut } from '../parts/headline.js';
import { LeaderBoard } from '../parts/leader_board.js';
import { Failure, Loading } from '../parts/loading.js';
import { LabelsChart, RecentChart, WeightsChart } from '../parts/standing_charts.js';
import { SliceTable } from '../parts/slice_table.js';
import { AskMore, Finish, GoOn, ReportLink } from '../parts/next_steps.js';
import { asks, isFinished, isIdle, isOver, StateLine } from '../parts/state_badge.js';
import { useLiveStanding } from '../state/live_standing.js';
import { slotsOf } from '../state/model_colours.js';
import { inCampaign } from '../state/router.js';
import { session } from '../state/session.js';

const FREE = ['grades', 'preference']; // what is measured where answers are free text

/** @param {{name: string}} props */
export function StandingView({ name }) {
  const { standing, charts, state, error } = useLiveStanding(name);
  const body = () => {
    if (error && !standing) return html`<${Failure} error=${error} />`;
    if (!standing) return html`<${Loading} what="the standing" />`;
    const slots = slotsOf(name, charts?.weights.models ?? [], standing.standing);
    return html`
      <${Summary} name=${name} standing=${standing} />
      ${standing.slices && standing.pick !== null && html`<${SliceTable} table=${standing.slices} />`}
      <div class="standing-grid">
        <${LeaderBoard} standing=${standing} slots=${slots} />
        ${charts ? html`<${Charts} charts=${charts} slots=${slots} loss=${standing.certificate.loss} items=${standing.certificate.kind === 'pool' ? standing.rounds : null} />` : html`<${Loading} what="the charts" />`}
      </div>
      ${charts && html`<${Disagreement} disagreement=${charts.disagreement} pool=${standing.certificate.kind === 'pool'}
        free=${FREE.includes(standing.certificate.loss)} />`}`;
  };
  return html`<div class="standing-view">
    <${CampaignHead} name=${name} tab="standing"><${Pulse} state=${state} /><//>
    ${body()}
  </div>`;
}

/** Whether the view is up to date. @param {{state: 'live'|'connecting'|'lost'}} props */
function Pulse({ state }) {
  const words = { live: 'Live', connecting: 'Connecting …', lost: 'Reconnecting …' };
  return html`<span class=${`pulse ${state}`} role="status">${words[state]}</span>`;
}

/** @param {{name: string, standing: Api.StandingDocument}} props */
function Summary({ name, standing }) {
  const { state, certificate, remark, judge } = standing;
  const sure = certainty(standing);
  const missing = leftOut(standing);
  return html`<section class="card summary" aria-label="Summary">
    <p class="headline" dir="auto">${headline(standing)}</p>
    <${StateLine} state=${state} />
    ${sure && html`<p>${sure}</p>`}
    <p class="certificate" dir="auto">${certificate.sentence}</p>
    ${remark && state.name !== 'won' && html`<p>${remark}</p>`}
    ${judge && html`<p class="quiet-text">${judge.sentence}</p>`}
    ${missing && html`<p class="quiet-text">${missing}</p>`}
    <${Spent} standing=${standing} />
    <${Next} name=${name} standing=${standing} />
  </section>`;
}

/** How much of the budget is spent, and what happened to the items. @param {{standing: Api.StandingDocument}} props */
function Spent({ standing }) {
  const { budget, labels_used: labels, labels_saved: saved, pending, skipped, conflicts, state, to_go: toGo } = standing;
  const parts = [
    budget === null ? `${count(labels, 'label')} bought` : `${number(labels)} of ${count(budget, 'label')} bought`,
    toGo && asks(state) && toGo.words,
    standing.certificate.kind === 'pool' && standing.references > 0 && `${number(standing.references)} given`,
    pending > 0 && `${number(pending)} waiting`,
    skipped > 0 && `${number(skipped)} skipped`,
    conflicts > 0 && `${number(conflicts)} in conflict`,
    saved > skipped && `${count(saved - skipped, 'item')} not asked about`,
  ];
  const share = (/** @type {number} */ part) => `${Math.min(100, (100 * part) / (budget || 1))}%`;
  return html`<div class="spent">
    ${budget !== null && budget > 0 && html`<div class="track" role="progressbar" aria-label="Budget"
        aria-valuemin="0" aria-valuemax=${budget} aria-valuenow=${labels}>
      <span style=${{ width: share(labels) }}></span>
      <span class="awaited" style=${{ width: share(pending) }}></span>
    </div>`}
    <p class="quiet-text">${parts.filter(Boolean).join(' · ')}</p>
  </div>`;
}

/** What to do now. @param {{name: string, standing: Api.StandingDocument}} props */
function Next({ name, standing: { pending, state, budget, certificate, labels_used: labels, more: offered } }) {
  if (!session.labels) {
    return html`<p class="quiet-text">You are signed in as a reader: annotators and owners label.</p>
      <p class="actions"><${ReportLink} name=${name} main=${isOver(state) || isFinished(state)} /></p>`;
  }
  const over = isOver(state);
  const finished = isFinished(state);
  const idle = isIdle(state);
  const pool = certificate.kind === 'pool';
  const more = pool && state.name === 'budget-spent' && budget !== null;
  const settle = { paused: 'Resume it', archived: 'Restore it', 'budget-spent': pool ? '' : 'Raise the budget' }[String(state.name)];
  const hasMore = pending > 0 || state.name === 'waiting-for-labels' || (pool && state.name === 'running');
  const labelling = !idle && !finished && hasMore;
  return html`<p class="actions">
    ${over && session.owns && html`<${Finish} name=${name} />`}
    ${more && session.owns && html`<${AskMore} name=${name} budget=${budget} offered=${offered} main />`}
    ${session.owns && settle && html`<a class=${idle ? 'button primary' : 'button'} href=${inCampaign(name, 'settings')}>${settle}</a>`}
    ${state.name === 'conflicts' && session.owns && html`<a class="button primary" href=${inCampaign(name, 'labels')}>Settle conflicts</a>`}
    ${labelling && !over && html`<a class="button primary" href=${inCampaign(name, 'label')}>
      ${pending > 0 || labels > 0 ? 'Label the next item' : 'Label the first item'}</a>`}
    ${(labels > 0 || over) && html`<${ReportLink} name=${name} main=${finished || (over && !session.owns)} />`}
    ${(over || finished) && html`<a class="button" href=${inCampaign(name, 'files')}>Download the result</a>`}
    ${over && pending > 0 && html`<a class="button" href=${inCampaign(name, 'label')}>Label more</a>`}
    ${finished && session.owns && html`<${GoOn} name=${name} />`}
    ${state.takes_items && !pool && !pending && session.owns && html`<a class="button" href=${inCampaign(name, 'files')}>Add predictions</a>`}
  </p>
  ${over && html`<p class="quiet-text">${session.owns
    ? 'Finish withdraws open questions, so nobody labels items that are not needed. You can continue later.'
    : 'The owner of the campaign can finish it now.'}</p>`}`;
}

/**
 * On a pool every round is a query, so only a stream's labels are drawn against its rounds.
 * @param {{charts: Api.ChartsDocument, slots: Map<Name, number>, loss: string, items: number|null}} props `items`: those of a pool
 */
function Charts({ charts: { weights, labels, recent }, slots, loss, items }) {
  return html`<${WeightsChart} ...${{ weights, slots, loss, items }} />
    ${items === null && html`<${LabelsChart} labels=${labels} />`}<${RecentChart} recent=${recent} />`;
}
