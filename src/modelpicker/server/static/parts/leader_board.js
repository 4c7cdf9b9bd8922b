/** The leader board: each model, how far behind it is, and how certain that is. */

import { amount, count, number, percent, pointsFigure, text } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { lookOf } from '../state/model_colours.js';
import { IntervalBar, scaleOf } from './interval_bar.js';
import { useMovingRows } from './moving_rows.js';

const FIRST = 10;
const COSTS = ['cost', 'weighted accuracy'];

/**
 * @param {{standing: Api.StandingDocument, slots?: Map<Name, number>}} props
 *   `slots`: the colours of the models that a chart beside it shows
 */
export function LeaderBoard({ standing, slots = new Map() }) {
  const [all, setAll] = useState(false);
  const rows = all ? standing.standing : standing.standing.slice(0, FIRST);
  const body = useMovingRows(rows.map((row) => text(row.model)));
  const Row = standing.weighted ? GapRow : EstimateRow;
  const scale = scaleOf(rows);
  const level = standing.tied.length;
  const more = standing.standing.length - FIRST;
  const weights = standing.standing.some((row) => row.weight !== null);
  const intervals = standing.standing.some((row) => row.low !== null);
  return html`<section class=${all ? 'card board all' : 'card board'} aria-labelledby="board-title">
    <header class="card-head">
      <h2 id="board-title">Leader board</h2>
      <span class="quiet-text">${count(standing.standing.length, 'model')}</span>
    </header>
    <table>
      <thead><${Heads} weighted=${standing.weighted} pool=${isPool(standing.certificate)} loss=${standing.certificate.loss} ...${{ weights, intervals }} /></thead>
      <tbody ref=${body}>
        ${rows.map((row, place) => html`<${Row} key=${text(row.model)} row=${row} rank=${place < level ? 1 : place + 1}
          first=${place === 0} level=${level > 1 && place < level} slot=${slots.get(row.model)} scale=${scale} ...${{ weights, intervals }} />`)}
      </tbody>
    </table>
    ${more > 0 && html`<button type="button" class="quiet" aria-expanded=${all} onClick=${() => setAll(!all)}>
      ${all ? `Show the first ${FIRST}` : `Show all ${number(standing.standing.length)}`}
    </button>`}
    ${standing.weighted && html`<p class="quiet-text">Behind: ${behind(standing.certificate.loss)}, as estimated from the labels${intervals && `, ${meaningOf(standing.certificate)}`}.</p>`}
  </section>`;
}

/** @param {Api.CertificateDocument} certificate */
const isPool = ({ kind }) => kind === 'pool';

/** What the intervals are: on a pool they are proven. @param {Api.CertificateDocument} certificate */
const meaningOf = (certificate) => (isPool(certificate)
  ? `with the range that the labels leave possible${certificate.label_noise ? ' if they are right' : ''}, with confidence ${percent(certificate.confidence)}`
  : 'with a rough 95 % interval');

/** How a model is behind the leader, in the words of what is measured. @param {string} loss */
function behind(loss) {
  if (loss === 'accuracy') return 'how many percentage points less accurate than the leader a model is';
  if (loss === 'preference') return 'on how many of 100 items the leader beats a model, less those on which it loses';
  if (COSTS.includes(loss)) return 'how much more than the leader a model costs per item, in percent of the cost of the worst mistake';
  return `how many percentage points lower than that of the leader the ${loss === 'grades' ? 'mean grade' : loss} of a model is`;
}

/** @param {{weighted: boolean, pool: boolean, loss: string, weights: boolean, intervals: boolean}} props */
function Heads({ weighted, pool, loss, weights, intervals }) {
  if (!weighted) {
    return html`<tr><th scope="col" class="rank">Rank</th><th scope="col">Model</th>
      <th scope="col" class="figure">${loss === 'accuracy' ? 'Mistakes' : 'Loss'} on labels</th>
      <th scope="col" class="figure wide-only weight-cell">Labels</th></tr>`;
  }
  return html`<tr><th scope="col" class="rank"><span class="sr-only">Rank</span></th><th scope="col">Model</th>
    <th scope="col" class="figure gap-cell">Behind</th>
    ${intervals && html`<th scope="col" class="figure wide-only interval-cell">${pool ? 'Possible' : '95 % interval'}</th>`}
    <th scope="col" class="bar-cell"><span class="sr-only">As a bar</span></th>
    ${weights && html`<th scope="col" class="figure wide-only weight-cell">Weight</th>`}</tr>`;
}

/**
 * @typedef {{row: Api.StandingEntry, rank: number, first: boolean, level: boolean, weights: boolean,
 *            intervals: boolean, slot?: number, scale: ReturnType<typeof scaleOf>}} RowProps
 */

/** @param {RowProps} props */
function GapRow({ row, rank, first, level, slot, scale, weights, intervals }) {
  const leads = rank === 1 && !level;
  const known = row.low !== null && row.labels > 0 && !first;
  const interval = known ? `${pointsFigure(row.low ?? 0)} to ${pointsFigure(row.high ?? 0)}` : '';
  const weight = row.weight === null ? '–' : percent(row.weight);
  return html`<tr data-row=${text(row.model)} class=${leads ? 'leader' : ''}>
    <td class="rank figure">${rank}</td>
    <${NameCell} row=${row} slot=${slot} />
    <td class="figure">${leads ? 'leads' : level ? 'level' : row.gap === null ? '–' : pointsFigure(row.gap)}</td>
    ${intervals && html`<td class="figure wide-only quiet-text">${interval}</td>`}
    <td class="bar-cell"><${IntervalBar} row=${row} scale=${scale} first=${!known} /></td>
    ${weights && html`<td class="figure wide-only weight-cell">${weight}</td>`}
  </tr>`;
}

/** @param {RowProps} props */
function EstimateRow({ row, rank, level, slot }) {
  return html`<tr data-row=${text(row.model)} class=${rank === 1 && !level ? 'leader' : ''}>
    <td class="rank figure">${rank}</td>
    <${NameCell} row=${row} slot=${slot} />
    <td class="figure">${amount(row.estimate)}</td>
    <td class="figure wide-only weight-cell">${number(row.labels)}</td>
  </tr>`;
}

/** @param {{row: Api.StandingEntry, slot?: number}} props */
function NameCell({ row, slot }) {
  const since = row.since > 0 && html` <span class="quiet-text">since item ${number(row.since)}</span>`;
  return html`<th scope="row" class="model-name" title=${text(row.model)}>
    <span class="model">${slot !== undefined && html`<span class=${`swatch ${lookOf(slot)}`} aria-hidden="true"></span>`}
    <bdi>${text(row.model)}</bdi></span>${since}
  </th>`;
}
