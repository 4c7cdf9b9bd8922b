/** Items that several people label: on which they disagree, how far they agree, and what the owner says. */

import { count, itemName, labelText, number, percent, personName, when } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { api } from '../state/api.js';
import { session } from '../state/session.js';
import { Item } from './item.js';
import { LabelWords } from './label_words.js';
import { useLoaded } from './loading.js';

const MOST = 20;
const FIGURES = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** What somebody said. @param {Name|Api.LabelDocument|null} label */
export const said = (label) => (label === null ? 'cannot tell' : labelText(label));
/** @param {number|null} kappa */
const figure = (kappa) => (kappa === null ? 'undefined' : FIGURES.format(kappa).replace('-', '−'));

/**
 * Everything about a campaign in which several people label an item.
 * @param {{name: string, vocabulary: Api.Classes, changed: () => void}} props
 */
export function Overlap({ name, vocabulary, changed }) {
  const { value, again } = useLoaded(() => Promise.all([api.conflicts(name, MOST), api.agreement(name)]), [name]);
  if (!value) return null;
  const [{ conflicts, total }, agreement] = value;
  const settled = () => {
    again();
    changed();
  };
  return html`<section class="card conflicts" aria-labelledby="conflicts-title">
      <h2 id="conflicts-title">Conflicts</h2>
      <p role="status">${total === 0 ? 'Nobody disagrees.'
        : `${count(total, 'item')} to settle. Until then ${total === 1 ? 'it counts' : 'they count'} at ${total === 1 ? 'its' : 'their'} worst.`}</p>
      <ul class="label-list">${conflicts.map((conflict) => html`<${ConflictRow} key=${conflict.id}
        ...${{ name, conflict, vocabulary, settled }} />`)}</ul>
      ${total > conflicts.length && html`<p class="quiet-text">The first ${number(conflicts.length)} are shown.</p>`}
    </section>
    <${AgreementPanel} agreement=${agreement} />`;
}

/** The opinions about an item. @param {{opinions: Api.OpinionDocument[]}} props */
export function Opinions({ opinions }) {
  return html`<dl class="said-list">${opinions.map(({ by, label, at }) => html`<div key=${`${by} ${at}`}>
    <dt><bdi>${personName(by)}</bdi> <time class="quiet-text" datetime=${at}>${when(at)}</time></dt><dd>${label === null ? said(label) : html`<${LabelWords} label=${label} />`}</dd></div>`)}</dl>`;
}

/** @param {{name: string, conflict: Api.ConflictDocument, vocabulary: Api.Classes, settled: () => void}} props */
function ConflictRow({ name, conflict, vocabulary, settled }) {
  const [other, setOther] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(/** @type {Error|null} */ (null));
  const settle = async (/** @type {Name|Api.LabelDocument|null} */ label) => {
    setBusy(true);
    setError(null);
    await api.settle(name, { id: conflict.id, label }).then(settled, setError);
    setBusy(false);
  };
  const given = conflict.opinions.map(({ label }) => label).filter((label) => label !== null);
  const labels = [...new Map(given.map((label) => [JSON.stringify(label), label])).values()]; // equal documents are one
  const rest = vocabulary.classes.filter((one) => !labels.includes(one));
  return html`<li class="label-row conflict">
    <div class="label-what">
      <p class="item-name" dir="auto" title=${itemName(conflict)}>${itemName(conflict)}</p>
      <div class="thumb" tabindex="0" role="group" aria-label=${`Content of ${itemName(conflict)}`}><${Item} query=${conflict} /></div>
    </div>
    <div class="label-facts">
      <${Opinions} opinions=${conflict.opinions} />
      ${session.owns && html`<p class="actions" role="group" aria-label=${`Settle ${itemName(conflict)}`}>
        <span class="quiet-text">Settle as</span>
        ${labels.map((label) => html`<button key=${JSON.stringify(label)} type="button" class="settle" disabled=${busy}
          onClick=${() => settle(label)}><bdi>${labelText(label)}</bdi></button>`)}
        <button type="button" disabled=${busy} onClick=${() => settle(null)}>Cannot tell</button>
      </p>
      ${rest.length > 0 && html`<p class="actions"><select aria-label="Another class" value=${other}
          onChange=${(event) => setOther(event.currentTarget.value)}>
          <option value="">Another class</option>
          ${rest.map((one) => html`<option key=${String(one)} value=${String(one)}>${String(one)}</option>`)}
        </select>
        <button type="button" disabled=${busy || other === ''}
          onClick=${() => settle(rest.find((one) => String(one) === other) ?? other)}>Settle</button></p>`}`}
      <p class="form-error" role="alert">${error?.message}</p>
    </div>
  </li>`;
}

/** @param {{agreement: Api.AgreementDocument}} props */
function AgreementPanel({ agreement: { items, agreed, kappa, pairs, classes } }) {
  return html`<section class="card agreement" aria-labelledby="agreement-title">
    <h2 id="agreement-title">Agreement</h2>
    ${agreed === null ? html`<p>No item has been labelled by two people yet.</p>`
      : html`<p>All agree on ${percent(agreed)} of ${count(items, 'item')} that several people labelled.
          Fleiss' κ is ${figure(kappa)}.</p>
        <div class="agreement-tables">
          <${Figures} caption="Every two people" head=${['People', 'Items', 'Agreed', 'Cohen’s κ']}
            rows=${pairs.map((pair) => [pair.annotators.map(personName).join(' and '), number(pair.items), percent(pair.agreed), figure(pair.kappa)])} />
          <${Figures} caption="Every class" head=${['Class', 'Said', 'κ']}
            rows=${classes.map((one) => [said(one.label), number(one.opinions), figure(one.kappa)])} />
        </div>
        <p class="quiet-text">κ is the agreement beyond chance: 1 is full agreement, 0 is what chance gives.</p>`}
  </section>`;
}

/** A small table. @param {{caption: string, head: string[], rows: string[][]}} props */
function Figures({ caption, head, rows }) {
  return html`<table class="agreement-table"><caption>${caption}</caption>
    <thead><tr>${head.map((one) => html`<th key=${one} scope="col">${one}</th>`)}</tr></thead>
    <tbody>${rows.map(([first, ...others]) => html`<tr key=${first}><th scope="row"><bdi>${first}</bdi></th>
      ${others.map((one, place) => html`<td key=${head[place + 1]} class="figure">${one}</td>`)}</tr>`)}</tbody>
  </table>`;
}
