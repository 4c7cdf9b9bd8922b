/**
 * A chart in a figure: lines with their names at the ends, or dots; a legend with values, a summary in words, a table,
 * and files to take away. It is drawn as SVG and coloured by style sheets, so that it follows the theme by itself.
 */

import { html, useEffect, useRef, useState } from '../lib/html.js';
import { lastPlace, linear, nearest, path, spread, ticks } from '../lib/plot.js';
import { asPicture, csv, saveFile, standalone } from '../lib/save.js';
import { notices } from '../state/notices.js';

/**
 * @typedef {import('../lib/plot.js').Values} Values
 * @typedef {(value: number|null) => string} Write
 * @typedef {{name: string, values: Values, look: string, dots?: number}} Series
 *   `look`: classes with a colour, and dashes; `dots`: the radius, if it is drawn as dots
 * @typedef {{label: string, write: Write, least?: number}} Axis `least`: the smallest step between ticks
 * @typedef {Axis & {values: number[]}} XAxis
 * @typedef {Axis & {range?: [number, number]}} YAxis
 * @typedef {{title: string, summary: string, x: XAxis, y: YAxis, series: Series[]}} ChartProps
 */

const HEIGHT = 250;
const TOP = 12;
const BOTTOM = 44;
const LEFT = 62;
const RIGHT = 16;
const NAME_GAP = 14; // pixels between names at the ends of lines
const WIDEST_NAME = 130;
const LETTER = 6.4; // pixels, on average
const TABLE_ROWS = 20;

/** @param {ChartProps} props */
export function Chart({ title, summary, x, y, series }) {
  /** @type {{current: HTMLElement}} */
  const place = useRef(null);
  const width = useWidth(place);
  const [pointed, setPointed] = useState(/** @type {number|null} */ (null));
  const shown = pointed !== null && pointed < x.values.length ? pointed : null;
  const save = (/** @type {'PNG'|'SVG'|'CSV'} */ form) => take(form, place.current, { title, x, series })
    .catch((error) => notices.add(error.message));
  return html`<figure class="card chart">
    <figcaption>
      <div class="card-head"><h2>${title}</h2><${Save} title=${title} save=${save} /></div>
      <p class="quiet-text">${summary}</p>
    </figcaption>
    <div class="plot" ref=${place} aria-hidden="true">
      ${width > 0 && html`<${Drawing} ...${{ width, x, y, series, shown, point: setPointed }} />`}
    </div>
    <${Legend} ...${{ x, y, series, shown }} />
    <${Numbers} ...${{ x, y, series, title }} />
  </figure>`;
}

/** The width of an element, as it changes. @param {{current: HTMLElement}} place */
function useWidth(place) {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const watch = new ResizeObserver(([{ contentRect }]) => setWidth(Math.floor(contentRect.width)));
    watch.observe(place.current);
    return () => watch.disconnect();
  }, []);
  return width;
}

/**
 * @param {{width: number, x: XAxis, y: YAxis, series: Series[], shown: number|null,
 *          point: (place: number|null) => void}} props
 */
function Drawing({ width, x, y, series, shown, point }) {
  const named = series.filter((one) => one.dots === undefined && lastPlace(one.values) >= 0);
  const longest = Math.max(0, ...named.map((one) => one.name.length)) * LETTER;
  const right = named.length ? Math.min(longest, WIDEST_NAME, width * 0.3) + RIGHT : RIGHT;
  const [low, high] = y.range ?? rangeOf(series);
  const across = linear(x.values[0] ?? 0, x.values.at(-1) ?? 1, LEFT, width - right);
  const up = linear(low, high, HEIGHT - BOTTOM, TOP);
  const xs = x.values.map(across);
  const frame = { left: LEFT, right: width - right, top: TOP, bottom: HEIGHT - BOTTOM };
  const move = (/** @type {EventOn<Element, PointerEvent>} */ event) =>
    point(nearest(xs, event.clientX - event.currentTarget.getBoundingClientRect().left));
  return html`<svg width=${width} height=${HEIGHT} onPointerMove=${move} onPointerLeave=${() => point(null)}>
    <${Axes} ...${{ x, y, low, high, across, up, frame }} />
    ${shown !== null && html`<line data-cursor class="cursor" x1=${xs[shown]} x2=${xs[shown]} y1=${TOP} y2=${frame.bottom} />`}
    ${series.map((one) => (one.dots === undefined
      ? html`<path key=${one.name} class=${`line ${one.look}`} d=${path(xs, heights(one.values, up))} />`
      : html`<${Dots} key=${one.name} ...${{ one, xs, up }} />`))}
    ${shown !== null && series.map((one) => one.values[shown] !== null && html`<circle data-cursor key=${one.name}
      class=${`dot ${one.look}`} cx=${xs[shown]} cy=${up(one.values[shown] ?? 0)} r="4" />`)}
    <${Names} ...${{ named, xs, up, frame, room: right - RIGHT }} />
  </svg>`;
}

/** @param {Values} values @param {(value: number) => number} up @returns {Values} */
const heights = (values, up) => values.map((value) => (value === null ? null : up(value)));

/** From 0, or less, to a little above the largest value. @param {Series[]} series @returns {[number, number]} */
function rangeOf(series) {
  const all = series.flatMap((one) => one.values).filter((value) => value !== null);
  return [Math.min(0, ...all), Math.max(...all, 0) * 1.06 || 1];
}

/** @typedef {{left: number, right: number, top: number, bottom: number}} Frame */

/**
 * @param {{x: XAxis, y: YAxis, low: number, high: number, across: (value: number) => number,
 *          up: (value: number) => number, frame: Frame}} props
 */
function Axes({ x, y, low, high, across, up, frame }) {
  const middle = (frame.top + frame.bottom) / 2;
  const columns = ticks(x.values[0] ?? 0, x.values.at(-1) ?? 1, (frame.right - frame.left) / 70, x.least);
  return html`<g class="axes">
    ${ticks(low, high, 5, y.least).map((value) => html`<g key=${value}>
      <line x1=${frame.left} x2=${frame.right} y1=${up(value)} y2=${up(value)} />
      <text x=${frame.left - 8} y=${up(value) + 4} text-anchor="end">${y.write(value)}</text></g>`)}
    ${columns.map((value) => html`<text key=${value} x=${across(value)} y=${frame.bottom + 18}
      text-anchor="middle">${x.write(value)}</text>`)}
    <text x=${(frame.left + frame.right) / 2} y=${HEIGHT - 6} text-anchor="middle">${x.label}</text>
    <text transform=${`translate(13 ${middle}) rotate(-90)`} text-anchor="middle">${y.label}</text>
  </g>`;
}

/** @param {{one: Series, xs: number[], up: (value: number) => number}} props */
function Dots({ one, xs, up }) {
  return html`<g class=${`dots ${one.look}`}>${one.values.map((value, place) => value !== null
    && html`<circle key=${place} cx=${xs[place].toFixed(1)} cy=${up(value).toFixed(1)} r=${one.dots} />`)}</g>`;
}

/**
 * The name of each line at its end, where lines that end close together keep their names apart.
 * @param {{named: Series[], xs: number[], up: (value: number) => number, frame: Frame, room: number}} props
 */
function Names({ named, xs, up, frame, room }) {
  const ends = named.map((one) => {
    const last = lastPlace(one.values);
    return { x: xs[last], y: up(one.values[last] ?? 0) };
  });
  const places = spread(ends.map((end) => end.y), NAME_GAP, frame.top, frame.bottom);
  return html`<g class="line-names">${named.map((one, place) => html`<g key=${one.name} class=${one.look}>
    <path class="leader-line" d=${`M${ends[place].x + 2} ${ends[place].y}L${frame.right + 8} ${places[place]}`} />
    <text x=${frame.right + 11} y=${places[place] + 4}>${fitted(one.name, room)}<title>${one.name}</title></text>
  </g>`)}</g>`;
}

/** A name that fits. Its end is often what tells it from others, so the middle is left out. @param {string} name @param {number} room */
function fitted(name, room) {
  const most = Math.max(4, Math.floor(room / LETTER));
  if (name.length <= most) return name;
  const head = Math.ceil((most - 1) / 2);
  return `${name.slice(0, head)}…${name.slice(name.length - (most - 1 - head))}`;
}

/**
 * The values where somebody points, or the last ones.
 * @param {{x: XAxis, y: YAxis, series: Series[], shown: number|null}} props
 */
function Legend({ x, y, series, shown }) {
  const value = (/** @type {Series} */ one) => one.values[shown ?? lastPlace(one.values)] ?? null;
  const at = x.values[shown ?? x.values.length - 1] ?? null;
  return html`<ul class="legend" aria-hidden="true">
    <li class="quiet-text">${x.label} ${x.write(at)}</li>
    ${series.map((one) => html`<li key=${one.name} class=${one.look}>
      <svg width="18" height="10">${one.dots === undefined
        ? html`<path class="line" d="M0 5H18" />`
        : html`<circle class="dot" cx="9" cy="5" r="4" />`}</svg>
      <bdi title=${one.name}>${one.name}</bdi>
      ${one.dots === undefined && html`<span class="quiet-text figure">${y.write(value(one))}</span>`}</li>`)}
  </ul>`;
}

/** @param {{title: string, save: (form: 'PNG'|'SVG'|'CSV') => void}} props */
function Save({ title, save }) {
  return html`<span class="save" role="group" aria-label=${`Save ${title}`}>
    ${/** @type {const} */ (['PNG', 'SVG', 'CSV']).map((form) => html`<button type="button" class="quiet" key=${form}
      title=${`Save as ${form}`} onClick=${() => save(form)}>${form}</button>`)}
  </span>`;
}

/**
 * @param {'PNG'|'SVG'|'CSV'} form @param {HTMLElement} place
 * @param {{title: string, x: XAxis, series: Series[]}} chart
 */
async function take(form, place, { title, x, series }) {
  const name = `${title.toLowerCase().replace(/\W+/g, '-')}.${form.toLowerCase()}`;
  if (form === 'CSV') {
    const text = csv([x.label, ...series.map((one) => one.name)], [x.values, ...series.map((one) => one.values)]);
    saveFile(name, new Blob([text], { type: 'text/csv' }));
    return;
  }
  const drawing = place.querySelector('svg');
  if (!drawing) return;
  const svg = standalone(drawing, title);
  saveFile(name, form === 'SVG' ? new Blob([svg], { type: 'image/svg+xml' }) : await asPicture(svg));
}

/**
 * Some of the values as a table, for people who cannot see the chart or want the numbers.
 * @param {{x: XAxis, y: YAxis, series: Series[], title: string}} props
 */
function Numbers({ x, y, series, title }) {
  const [open, setOpen] = useState(false);
  const rows = open ? thinned(x.values.length) : [];
  return html`<details class="numbers" onToggle=${(event) => setOpen(event.currentTarget.open)}>
    <summary>As a table</summary>
    <div class="table-scroll" tabindex="0" role="group" aria-label=${`${title}, as a table`}>
      <table>
        <thead><tr>${[x.label, ...series.map((one) => one.name)].map((head) => html`
          <th scope="col" class="figure" key=${head}><bdi>${head}</bdi></th>`)}</tr></thead>
        <tbody>${rows.map((row) => html`<tr key=${row}>
          <td class="figure">${x.write(x.values[row])}</td>
          ${series.map((one) => html`<td class="figure" key=${one.name}>${y.write(one.values[row] ?? null)}</td>`)}
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
