/** A uPlot chart in a figure, with a summary in words and a table of its values. */

import { number } from '../lib/format.js';
import { html, useEffect, useRef, useState } from '../lib/html.js';
import { DARK, useMedia } from '../state/media.js';

/** @import uPlot from '../vendor/uPlot.min.mjs' */

const HEIGHT = 230;
const TABLE_ROWS = 20;

/** A colour of the theme, for the canvas. @param {string} name of a custom property */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/**
 * The colour and dashes of a line: six colours that colour-blind people can tell apart, then the same ones dashed.
 * @param {number} place
 */
export function stroke(place) {
  return { stroke: colour(`--line-${(place % 6) + 1}`), dash: place < 6 ? undefined : [5, 4] };
}

/** @typedef {(value: uPlot.Value, column: number) => string} Write */

/**
 * @param {{title: string, summary: string, data: uPlot.Values, heads: string[], options: () => uPlot.Options,
 *          form?: string, write?: Write, children?: object}} props
 *   `options` is called again for each theme; `form` must change when its result would change.
 */
export function Chart({ title, summary, data, heads, options, form = '', write = plain, children }) {
  /** @type {{current: Element}} */
  const place = useRef(null);
  const dark = useMedia(DARK);
  /** @type {{current: uPlot}} */
  const plot = useRef(null);
  const Plot = useLibrary();
  useEffect(() => {
    if (!Plot) return undefined;
    const { series, axes, ...rest } = options();
    const size = (/** @type {number} */ width) => ({ width, height: HEIGHT });
    const own = { series, axes: axes.map(axis), legend: { markers: MARKERS, ...rest.legend } };
    plot.current = new Plot({ ...size(place.current.clientWidth), ...COMMON, ...rest, ...own }, data, place.current);
    const watch = new ResizeObserver(([{ contentRect }]) => plot.current.setSize(size(contentRect.width)));
    watch.observe(place.current);
    return () => {
      watch.disconnect();
      plot.current.destroy();
    };
  }, [dark, form, Plot]);
  useEffect(() => {
    if (!Plot) return;
    plot.current.setData(data);
    if (plot.current.cursor.left < 0) showLast(plot.current);
  }, [data]);
  return html`<figure class="card chart">
    <figcaption><h2>${title}</h2><p class="quiet-text">${summary}</p></figcaption>
    <div class="plot" ref=${place} aria-hidden="true"></div>
    ${children}
    <${Numbers} ...${{ data, heads, write, title }} />
  </figure>`;
}

/** uPlot, which is fetched when the first chart is shown. */
function useLibrary() {
  const [library, setLibrary] = useState(/** @type {typeof uPlot|null} */ (null));
  useEffect(() => {
    import('../vendor/uPlot.min.mjs').then((module) => setLibrary(() => module.default));
  }, []);
  return library;
}

/** @type {Write} */
const plain = (value) => (value === null || value === undefined ? '–' : number(value));

/**
 * Some of the values as a table, for people who cannot see the chart or want the numbers.
 * @param {{data: uPlot.Values, heads: string[], write: Write, title: string}} props
 */
function Numbers({ data, heads, write, title }) {
  const [open, setOpen] = useState(false);
  const rows = open ? thinned(data[0].length) : [];
  return html`<details class="numbers" onToggle=${(event) => setOpen(event.currentTarget.open)}>
    <summary>As a table</summary>
    <div class="table-scroll" tabindex="0" role="group" aria-label=${`${title}, as a table`}>
      <table>
        <thead><tr>
          ${heads.map((head) => html`<th scope="col" class="figure" key=${head}><bdi>${head}</bdi></th>`)}
        </tr></thead>
        <tbody>${rows.map((row) => html`<tr key=${row}>
          ${data.map((column, place) => html`<td class="figure" key=${place}>${write(column[row], place)}</td>`)}
        </tr>`)}</tbody>
      </table>
    </div>
  </details>`;
}

/** The last row and some rows before it, evenly spaced. @param {number} length */
function thinned(length) {
  const step = Math.max(1, Math.ceil(length / TABLE_ROWS));
  const rows = [];
  for (let row = length - 1; row >= 0; row -= step) rows.unshift(row);
  return rows;
}

const COMMON = {
  padding: [12, 22, 0, 0],
  cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
  hooks: { setCursor: [(/** @type {uPlot} */ plot) => plot.cursor.idx ?? showLast(plot)], ready: [showLast] },
};

/** The mark in the legend is dashed if the line is. @type {uPlot.Markers} */
const MARKERS = {
  width: 2,
  dash: (plot, place) => (plot.series[place].dash ? 'dashed' : 'solid'),
  stroke: (plot, place) => plot.series[place].stroke(),
  fill: (plot, place) => (plot.series[place].dash ? 'transparent' : plot.series[place].stroke()),
};

/** While nobody points at the chart, the legend shows the latest values. @param {uPlot} plot */
function showLast(plot) {
  plot.setLegend({ idx: plot.data[0].length - 1 }, false);
}

/** @param {uPlot.Axis} own */
function axis(own) {
  const line = { stroke: colour('--line'), width: 1 };
  const font = '12px system-ui, sans-serif';
  const label = { labelFont: font, labelSize: 18, labelGap: 0 };
  return { stroke: colour('--quiet'), font, ...label, grid: line, ticks: { ...line, size: 4 }, ...own };
}
