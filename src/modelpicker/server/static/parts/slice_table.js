/** The best model of each slice, and whether the pick of all items will do there. */

import { number, text } from '../lib/format.js';
import { html, useState } from '../lib/html.js';

const FIRST = 10;

/** @param {{table: Api.SliceTableDocument}} props */
export function SliceTable({ table: { column, sentence, slices } }) {
  const [all, setAll] = useState(false);
  const rows = all ? slices : slices.slice(0, FIRST);
  return html`<section class="card slices" aria-labelledby="slices-title">
    <header class="card-head">
      <h2 id="slices-title">The same everywhere, or not?</h2>
      ${column && html`<span class="quiet-text">by <bdi>${column}</bdi></span>`}
    </header>
    <p dir="auto">${sentence}</p>
    <table>
      <thead><tr><th scope="col"><bdi>${column || 'Slice'}</bdi></th>
        <th scope="col" class="figure wide-only">Items</th><th scope="col" class="figure wide-only">Labels</th>
        <th scope="col">Best model</th><th scope="col">Proved</th><th scope="col">The same?</th></tr></thead>
      <tbody>${rows.map((row) => html`<${Row} key=${row.value} row=${row} />`)}</tbody>
    </table>
    ${slices.length > FIRST && html`<button type="button" class="quiet" aria-expanded=${all} onClick=${() => setAll(!all)}>
      ${all ? `Show the first ${FIRST}` : `Show all ${number(slices.length)}`}
    </button>`}
  </section>`;
}

/** @param {{row: Api.SliceDocument}} props */
function Row({ row }) {
  const verdict = row.same === null ? 'open' : row.same ? 'yes' : 'no';
  return html`<tr>
    <th scope="row"><bdi>${row.value}</bdi></th>
    <td class="figure wide-only">${number(row.items)}</td>
    <td class="figure wide-only">${number(row.labels)}</td>
    <td class="model-name"><bdi>${text(row.model)}</bdi></td>
    <td class="proved-cell">${row.proved}${row.state === 'undecided' && html`<span class="quiet-text reason">${row.reason}</span>`}</td>
    <td class="verdict-cell"><span class=${`verdict ${verdict}`}>${row.verdict}</span></td>
  </tr>`;
}
