/** The list of campaigns, or the first steps if there are none. */

import { count, number, text } from '../lib/format.js';
import { html, useEffect } from '../lib/html.js';
import { Failure, Loading, useLoaded } from '../parts/loading.js';
import { isFinished, isIdle, isOver, StateLine } from '../parts/state_badge.js';
import { api } from '../state/api.js';
import { inCampaign, newCampaign, useView } from '../state/router.js';
import { session } from '../state/session.js';

const AGAIN = 5_000;

export function CampaignsView() {
  useView('Campaigns', 'campaigns');
  const { value, error, again } = useLoaded(api.campaigns, []);
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && again(), AGAIN);
    return () => clearInterval(timer);
  }, []);
  const body = () => {
    if (error && !error.temporary) return html`<${Failure} error=${error} again=${again} />`;
    if (!value) return html`<${Loading} what="the campaigns" error=${error} />`;
    return value.length ? html`<${Campaigns} campaigns=${value} />` : html`<${NoCampaigns} />`;
  };
  return html`<div class="campaigns-view">
    <div class="title-row">
      <h1 tabindex="-1">Campaigns</h1>
      ${session.owns && html`<a class="button primary" href=${newCampaign}>New campaign</a>`}
    </div>
    ${session.known?.demo && value && value.length > 0 && html`<p class="lead">
      This is a demo: label twenty of the digits, and watch the leader board move.</p>`}
    ${body()}
  </div>`;
}

/** @param {Api.Summary} campaign */
const isAway = ({ state }) => state?.name === 'archived';

/** @param {{campaigns: Api.Summary[]}} props */
function Campaigns({ campaigns }) {
  const away = campaigns.filter(isAway);
  const cards = (/** @type {Api.Summary[]} */ some) => html`<ul class="campaign-list">
    ${some.map((campaign) => html`<${CampaignCard} key=${campaign.name} campaign=${campaign} />`)}
  </ul>`;
  return html`${cards(campaigns.filter((campaign) => !isAway(campaign)))}
    ${away.length > 0 && html`<details><summary>${count(away.length, 'archived campaign')}</summary>
      <div class="archived">${cards(away)}</div></details>`}`;
}

/** @param {{campaign: Api.Summary}} props */
function CampaignCard({ campaign }) {
  if (campaign.damage || !campaign.state) return html`<${Damaged} campaign=${campaign} />`;
  const { name, budget, labels_used: labels, pending, rounds, state } = campaign;
  const main = session.seesStanding ? 'standing' : 'label';
  // A pool always asks, and so does a stream while items of a file wait.
  const open = state.name === 'waiting-for-labels' || pending > 0
    || (campaign.algorithm === 'pool-picker' && state.name === 'running');
  const asks = open && !isOver(state) && !isIdle(state);
  const facts = [
    campaign.models !== null && campaign.models > 0 && count(campaign.models, 'model'),
    count(rounds, 'item'),
    budget === null ? count(labels, 'label') : `${number(labels)} of ${count(budget, 'label')}`,
  ];
  return html`<li class="card campaign-card">
    <div class="campaign-what">
      <h2><a href=${inCampaign(name, main)} dir="auto">${name}</a></h2>
      <${StateLine} state=${state} next=${session.owns} />
      ${session.seesStanding && rounds > 0 && html`<p class="pick">${lead(campaign)}</p>`}
      <p class="quiet-text">${facts.filter(Boolean).join(' · ')}</p>
      ${budget !== null && budget > 0 && html`<div class="track" aria-hidden="true">
        <span style=${{ width: `${Math.min(100, (100 * labels) / budget)}%` }}></span></div>`}
    </div>
    <p class="actions">
      ${session.labels && !isFinished(state) && html`<${LabelLink} name=${name} pending=${pending} main=${asks} />`}
      ${session.seesStanding && html`<a class=${isOver(state) || isFinished(state) ? 'button primary' : 'button'}
        href=${inCampaign(name, 'standing')}>Standing<span class="sr-only"> of ${name}</span></a>`}
    </p>
  </li>`;
}

/** A campaign that cannot be opened. The others still can. @param {{campaign: Api.Summary}} props */
function Damaged({ campaign: { name, damage } }) {
  return html`<li class="card campaign-card">
    <div class="campaign-what">
      <h2 dir="auto">${name}</h2>
      <p role="alert" dir="auto">${damage}</p>
    </div>
  </li>`;
}

/** @param {{name: string, pending: number, main: boolean}} props */
function LabelLink({ name, pending, main }) {
  return html`<a class=${main ? 'button primary' : 'button'} href=${inCampaign(name, 'label')}>
    Label<span class="sr-only"> ${name}</span>
    ${pending > 0 && html`<span class="count">${number(pending)}<span class="sr-only"> waiting</span></span>`}
  </a>`;
}

/** Which model leads, in a few words. @param {Api.Summary} campaign */
function lead({ pick, tied, labels_used: labels, models, state }) {
  if (labels && pick === null) return 'Being worked out again after a change';
  const why = state && isOver(state) ? 'no label is needed' : 'no labels yet';
  if (!labels || pick === null) return `All ${number(models ?? 0)} models are level: ${why}`;
  const others = (tied ?? 1) - 1;
  if (others > 0) return html`<strong><bdi>${text(pick)}</bdi></strong> and ${count(others, 'other')} are level`;
  return html`<strong><bdi>${text(pick)}</bdi></strong> leads`;
}

function NoCampaigns() {
  if (!session.owns) {
    return html`<div class="card empty"><h2>No campaigns yet</h2>
      <p>An owner has to create one first.</p></div>`;
  }
  return html`<div class="card empty">
    <h2>No campaigns yet</h2>
    <p>A campaign finds out which of your models is best on your items. It asks for few labels.</p>
    <ol class="steps">
      <li>Let your models predict, and put that into a file: one row per item, one column per model.
        <pre tabindex="0" role="group" aria-label="Example file"><code>id,text,bert,roberta,gpt
msg-1,"You have won",spam,spam,spam
msg-2,"See you at noon",ham,spam,ham</code></pre></li>
      <li>Create a campaign with it.</li>
      <li>Label the items that it asks about, and see which model leads.</li>
    </ol>
    <p class="actions"><a class="button primary" href=${newCampaign}>Create a campaign</a></p>
  </div>`;
}
