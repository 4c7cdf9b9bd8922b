/** The leading models, shown beside the item. It never shows what a model predicted for the item. */

import { count, pointsFigure, text } from '../lib/format.js';
import { html } from '../lib/html.js';
import { useLiveStanding } from '../state/live_standing.js';
import { inCampaign } from '../state/router.js';
import { headline } from './headline.js';
import { IntervalBar, scaleOf } from './interval_bar.js';
import { useMovingRows } from './moving_rows.js';
import { isOver } from './state_badge.js';

const SHOWN = 5;

/** @param {{name: string}} props */
export function LeaderAside({ name }) {
  const { standing } = useLiveStanding(name);
  const rows = standing ? standing.standing.slice(0, SHOWN) : [];
  const body = useMovingRows(rows.map((row) => text(row.model)));
  if (!standing) return html`<aside class="leader-aside" aria-label="Standing"></aside>`;
  const scale = scaleOf(rows);
  const started = standing.labels_used > 0;
  const words = started || isOver(standing.state) ? headline(standing)
    : `${count(standing.standing.length, 'model')}, all level until the first label.`;
  return html`<aside class="leader-aside" aria-label="Standing">
    <h2>${standing.tied.length > 1 && (started || isOver(standing.state)) ? 'Level now' : started ? 'Leading now' : 'Nobody leads yet'}</h2>
    <p class="quiet-text">${words}</p>
    ${started && standing.weighted && html`<ol class="mini-board" ref=${body}>
      ${rows.map((row, place) => html`<li key=${text(row.model)} data-row=${text(row.model)}>
        <span class="mini-name"><bdi>${text(row.model)}</bdi></span>
        <span class="figure">${behind(row, place, standing.tied.length)}</span>
        <${IntervalBar} row=${row} scale=${scale} first=${place === 0} />
      </li>`)}
    </ol>`}
    <p><a href=${inCampaign(name, 'standing')}>Standing</a></p>
  </aside>`;
}

/** @param {Api.StandingEntry} row @param {number} place @param {number} tied */
function behind(row, place, tied) {
  if (place < tied) return tied > 1 ? 'level' : 'leads';
  return row.gap === null ? '–' : `${pointsFigure(row.gap)} points behind`;
}
