/** The charts of the standing view. A chart that would say nothing is not shown. */

import { amount, count, list, number, percent, text } from '../lib/format.js';
import { html } from '../lib/html.js';
import { lastPlace } from '../lib/plot.js';
import { lookOf } from '../state/model_colours.js';
import { Chart } from './chart.js';

/** @typedef {import('./chart.js').Write} Write */

/** @param {(value: number) => string} write @returns {Write} */
const orDash = (write) => (value) => (value === null ? '–' : write(value));
const share = orDash(percent);
const mistakes = orDash(amount);
const total = orDash(number);

/** Whether anything has changed since the first label was asked for. @param {Api.WeightLines} weights */
const hasMoved = ({ labels, models, values }) => labels.length > 1 && models.length > 1
  && values.some((line) => line.some((value) => value !== values[0][0]));

/**
 * The weights of the leading models after each label. Algorithms without weights have estimates instead.
 * @param {{weights: Api.WeightLines, slots: Map<Name, number>, loss: string, items: number|null}} props
 *   `items`: those of a pool; losses other than mistakes are drawn as a share of them
 */
export function WeightsChart({ weights, slots, loss, items }) {
  if (!hasMoved(weights)) return null;
  const { kind, models, labels } = weights;
  const isWeights = kind === 'weights';
  const isShare = !isWeights && loss !== 'accuracy' && items !== null;
  const values = isShare ? weights.values.map((line) => line.map((value) => value && value / items)) : weights.values;
  const lost = loss === 'accuracy' ? 'estimated mistakes' : isShare ? 'estimated gap' : 'estimated loss';
  const write = isWeights || isShare ? share : mistakes;
  const tiny = !isWeights && !isShare && values.every((line) => line.every((value) => (value ?? 0) < 1)); // less than one mistake
  const series = models.map((model, place) => ({ name: text(model), values: values[place], look: lookOf(slots.get(model) ?? 0) }));
  const leaders = series.slice(0, 3).map((one) => `${one.name} ${write(one.values[lastPlace(one.values)] ?? null)}`);
  const meaning = isWeights ? 'How much each model counts when it is decided what to ask. '
    : isShare ? 'How far each model was behind the leader. ' : '';
  return html`<${Chart} title=${isWeights ? 'Weights over time' : `${lost[0].toUpperCase()}${lost.slice(1)} over time`} series=${series}
    x=${{ label: 'labels', values: labels, write: total, least: 1 }}
    y=${{ label: isWeights ? 'weight' : lost, write, ...(tiny ? { range: [0, 1] } : {}) }}
    summary=${`${meaning}After ${count(labels.at(-1) ?? 0, 'label')}: ${list(leaders)}.`} />`;
}

/** Labels bought and asked for, against rounds seen. @param {{labels: Api.LabelLines}} props */
export function LabelsChart({ labels: { rounds, queries, labels } }) {
  const seen = rounds.at(-1) ?? 0;
  const bought = labels.at(-1) ?? 0;
  const asked = queries.at(-1) ?? 0;
  const all = asked === seen && bought === seen; // a straight line, whatever happened
  if (rounds.length < 3 || !asked || all) return null;
  const words = [
    `${count(seen, 'round')} seen`,
    count(asked, 'query', 'queries'),
    `${count(bought, 'label')} bought (${percent(bought / Math.max(1, seen))} of the rounds)`,
  ];
  const series = [{ name: 'queries', values: queries, look: lookOf(1) }, { name: 'labels', values: labels, look: lookOf(0) }];
  return html`<${Chart} title="Labels bought" summary=${`${words.join(', ')}.`} series=${series}
    x=${{ label: 'rounds', values: rounds, write: total, least: 1 }} y=${{ label: 'labels', write: total, least: 1 }} />`;
}

/** How likely each of the last rounds was to be queried, and which were. @param {{recent: Api.RecentRounds}} props */
export function RecentChart({ recent: { rounds, probability, queried } }) {
  const chances = new Set(probability);
  const left = [...chances].some((chance) => chance > 0 && chance < 1);
  if (!left || chances.size < 2) return null;
  const asked = queried.filter(Boolean).length;
  const mean = probability.reduce((sum, value) => sum + value, 0) / (probability.length || 1);
  const were = `${number(asked)} ${asked === 1 ? 'was' : 'were'} queried`;
  const only = (/** @type {boolean} */ wanted) => probability.map((value, place) => (queried[place] === wanted ? value : null));
  const series = [{ name: 'not queried', values: only(false), look: 'not-queried', dots: 2 },
    { name: 'queried', values: only(true), look: lookOf(1), dots: 3.5 }];
  return html`<${Chart} title="Query probability of recent rounds" series=${series}
    x=${{ label: 'round', values: rounds, write: total, least: 1 }}
    y=${{ label: 'probability', write: share, range: [0, 1] }}
    summary=${`Of the last ${count(rounds.length, 'round')}, ${were}; the probability was ${percent(mean)} on average.`} />`;
}
