/** The three charts of the standing. */

import { Chart, colour, stroke } from './charts.js';
import { html, useMemo } from './html.js';
import { amount, count, list, number, percent, text } from './words.js';

const share = (value) => (value === null || value === undefined ? '–' : percent(value));
const total = (value) => (value === null || value === undefined ? '–' : number(value));
const totals = (_, values) => values.map((value) => (Number.isInteger(value) ? number(value) : ''));
const shares = (_, values) => values.map((value) => percent(value));

/** The weights, or what an algorithm has in their place, of the leading models over the labels. */
export function WeightsChart({ weights }) {
  const { kind, models, labels, values } = weights;
  const data = useMemo(() => [labels, ...values], [weights]);
  const isWeights = kind === 'weights';
  const write = isWeights ? share : (value) => (value === null || value === undefined ? '–' : amount(value));
  const names = models.map(text);
  const title = isWeights ? 'Weights over time' : 'Estimated mistakes over time';
  const last = values.map((series) => series.at(-1) ?? null);
  const leaders = names.slice(0, 3).map((name, place) => `${name} ${write(last[place])}`);
  const options = () => ({
    scales: { x: { time: false }, y: { range: (_, least, most) => [Math.min(0, least), most * 1.08 || 1] } },
    series: [{ label: 'labels', value: (_, value) => total(value) },
      ...names.map((name, place) => ({ label: name, width: 2, ...stroke(place), points: { show: false }, value: (_, value) => write(value) }))],
    axes: [{ label: 'labels bought', size: 28, values: totals },
      { label: isWeights ? 'weight' : 'estimated mistakes', size: 60, values: isWeights ? shares : undefined }],
  });
  return html`<${Chart} title=${title} form=${names.join('\n')} data=${data} options=${options} heads=${['labels', ...names]}
    write=${(value, column) => (column === 0 ? total(value) : write(value))}
    summary=${`${isWeights ? 'How much each model counts when it is decided what to ask.' : ''} After ${count(labels.at(-1) ?? 0, 'label')}: ${list(leaders)}.`.trim()} />`;
}

/** Labels bought and asked for, against rounds seen. */
export function LabelsChart({ labels: { rounds, queries, labels } }) {
  const data = useMemo(() => [rounds, queries, labels], [rounds, queries, labels]);
  const options = () => ({
    scales: { x: { time: false } },
    series: [{ label: 'rounds', value: (_, value) => total(value) },
      { label: 'queries', ...stroke(4), width: 2, points: { show: false }, value: (_, value) => total(value) },
      { label: 'labels', ...stroke(0), width: 2, points: { show: false }, value: (_, value) => total(value) }],
    axes: [{ label: 'rounds seen', size: 28, values: totals }, { label: 'labels', size: 60, values: totals }],
  });
  const seen = rounds.at(-1) ?? 0;
  const bought = labels.at(-1) ?? 0;
  return html`<${Chart} title="Labels bought" data=${data} options=${options} heads=${['rounds', 'queries', 'labels']}
    summary=${`${count(seen, 'round')} seen, ${count(queries.at(-1) ?? 0, 'query', 'queries')}, ${count(bought, 'label')} bought${seen ? ` (${percent(bought / seen)} of the rounds)` : ''}.`} />`;
}

/** How likely each of the last rounds was to be queried, and which were. */
export function RecentChart({ recent: { rounds, probability, queried } }) {
  const data = useMemo(() => [
    rounds,
    probability.map((value, place) => (queried[place] ? null : value)),
    probability.map((value, place) => (queried[place] ? value : null)),
  ], [rounds, probability, queried]);
  const dots = (name, size) => ({ paths: () => null, points: { show: true, size, width: 1, fill: colour(name), stroke: colour(name) }, stroke: colour(name) });
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
  return html`<${Chart} title="Query probability of recent rounds" data=${data} options=${options}
    heads=${['round', 'not queried', 'queried']} write=${(value, column) => (column === 0 ? total(value) : share(value))}
    summary=${`Of the last ${count(rounds.length, 'round')}, ${number(asked)} ${asked === 1 ? 'was' : 'were'} queried; the probability was ${percent(mean)} on average.`} />`;
}
