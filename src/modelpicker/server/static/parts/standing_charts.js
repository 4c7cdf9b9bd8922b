/** The three charts of the standing view. */

import { amount, count, list, number, percent, text } from '../lib/format.js';
import { html, useMemo } from '../lib/html.js';
import { Chart, colour, stroke } from './chart.js';

/** @import uPlot from '../vendor/uPlot.min.mjs' */

/** @param {uPlot.Value} value */
const share = (value) => (value === null || value === undefined ? '–' : percent(value));
/** @param {uPlot.Value} value */
const mistakes = (value) => (value === null || value === undefined ? '–' : amount(value));
/** @param {uPlot.Value} value */
const total = (value) => (value === null || value === undefined ? '–' : number(value));
/** @param {uPlot} _ @param {number[]} values */
const totals = (_, values) => values.map((value) => (Number.isInteger(value) ? number(value) : ''));
/** @param {uPlot} _ @param {number[]} values */
const shares = (_, values) => values.map((value) => percent(value));

/** @param {number} place */
const line = (place) => ({ ...stroke(place), width: 2, points: { show: false } });

/**
 * The weights of the leading models after each label. Algorithms without weights have estimates instead.
 * @param {{weights: Api.WeightLines}} props
 */
export function WeightsChart({ weights }) {
  const { kind, models, labels, values } = weights;
  const data = useMemo(() => [labels, ...values], [weights]);
  const isWeights = kind === 'weights';
  const write = isWeights ? share : mistakes;
  const names = models.map(text);
  const title = isWeights ? 'Weights over time' : 'Estimated mistakes over time';
  const last = values.map((series) => series.at(-1) ?? null);
  const leaders = names.slice(0, 3).map((name, place) => `${name} ${write(last[place])}`);
  /** @type {(name: string, place: number) => uPlot.Series} */
  const drawn = (name, place) => ({ label: name, ...line(place), value: (_, value) => write(value) });
  /** @returns {uPlot.Options} */
  const options = () => ({
    scales: { x: { time: false }, y: { range: (_, least, most) => [Math.min(0, least), most * 1.08 || 1] } },
    series: [{ label: 'labels', value: (_, value) => total(value) },
      ...names.map(drawn)],
    axes: [{ label: 'labels bought', size: 28, values: totals },
      { label: isWeights ? 'weight' : 'estimated mistakes', size: 60, values: isWeights ? shares : undefined }],
  });
  const meaning = isWeights ? 'How much each model counts when it is decided what to ask. ' : '';
  return html`<${Chart} title=${title} form=${names.join('\n')} data=${data} options=${options}
    heads=${['labels', ...names]} write=${(value, column) => (column === 0 ? total(value) : write(value))}
    summary=${`${meaning}After ${count(labels.at(-1) ?? 0, 'label')}: ${list(leaders)}.`} />`;
}

/** Labels bought and asked for, against rounds seen. @param {{labels: Api.LabelLines}} props */
export function LabelsChart({ labels: { rounds, queries, labels } }) {
  const data = useMemo(() => [rounds, queries, labels], [rounds, queries, labels]);
  /** @returns {uPlot.Options} */
  const options = () => ({
    scales: { x: { time: false } },
    series: [{ label: 'rounds', value: (_, value) => total(value) },
      { label: 'queries', ...line(4), value: (_, value) => total(value) },
      { label: 'labels', ...line(0), value: (_, value) => total(value) }],
    axes: [{ label: 'rounds seen', size: 28, values: totals }, { label: 'labels', size: 60, values: totals }],
  });
  const seen = rounds.at(-1) ?? 0;
  const bought = labels.at(-1) ?? 0;
  const words = [
    `${count(seen, 'round')} seen`,
    count(queries.at(-1) ?? 0, 'query', 'queries'),
    `${count(bought, 'label')} bought (${percent(bought / Math.max(1, seen))} of the rounds)`,
  ];
  return html`<${Chart} title="Labels bought" data=${data} options=${options} heads=${['rounds', 'queries', 'labels']}
    summary=${`${words.join(', ')}.`} />`;
}

/** @param {string} name of a colour @param {number} size */
function dots(name, size) {
  const stroke = colour(name);
  return { stroke, paths: () => null, points: { show: true, size, width: 1, fill: stroke, stroke } };
}

/** How likely each of the last rounds was to be queried, and which were. @param {{recent: Api.RecentRounds}} props */
export function RecentChart({ recent: { rounds, probability, queried } }) {
  const data = useMemo(() => [
    rounds,
    probability.map((value, place) => (queried[place] ? null : value)),
    probability.map((value, place) => (queried[place] ? value : null)),
  ], [rounds, probability, queried]);
  /** @returns {uPlot.Options} */
  const options = () => ({
    legend: { live: false },
    scales: { x: { time: false }, y: { range: [0, 1] } },
    series: [{ label: 'round', value: (_, value) => total(value) },
      { label: 'not queried', ...dots('--dot', 3), value: (_, value) => share(value) },
      { label: 'queried', ...dots('--line-2', 6), value: (_, value) => share(value) }],
    axes: [{ label: 'round', size: 28, values: totals }, { label: 'probability', size: 60, values: shares }],
  });
  const asked = queried.filter(Boolean).length;
  const mean = probability.reduce((sum, value) => sum + value, 0) / (probability.length || 1);
  const were = `${number(asked)} ${asked === 1 ? 'was' : 'were'} queried`;
  return html`<${Chart} title="Query probability of recent rounds" data=${data} options=${options}
    heads=${['round', 'not queried', 'queried']}
    write=${(value, column) => (column === 0 ? total(value) : share(value))}
    summary=${`Of the last ${count(rounds.length, 'round')}, ${were}; the probability was ${percent(mean)} on average.`} />`;
}
