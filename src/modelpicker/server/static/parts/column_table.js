/** The columns of a file with their first values, and a choice of what each column is. */

import { count, number } from '../lib/format.js';
import { html } from '../lib/html.js';

const ROLES = [
  ['model', 'a model'], ['shown', 'shown with the item'], ['id', 'the id'], ['label', 'the label'],
  ['left out', 'left out'],
];
const MOST_COLUMNS = 100; // the rest are usually models, and nobody reads that far

/**
 * @typedef {import('../state/prediction_file.js').Column} Column
 * @typedef {import('../state/prediction_file.js').PredictionFile} PredictionFile
 */

/**
 * The table of columns. It asks people to confirm the columns that are not clear.
 * @param {{source: PredictionFile, roles?: string[], again?: boolean}} props
 *   `roles` that a column may have; `again`: ask the server for a new preview when a role changes
 */
export function ColumnTable({ source: { columns, open, chosen, seen, decide, confirm }, roles, again = false }) {
  if (!seen || !columns.length) return null;
  const known = roles ? ROLES.filter(([role]) => roles.includes(role)) : ROLES;
  const shown = columns.filter((column, place) => place < MOST_COLUMNS || column.doubt || chosen[column.name]);
  const more = columns.length - shown.length;
  return html`<fieldset class="columns-field">
    <legend>Columns of the file</legend>
    <p class=${open.length ? 'columns-open' : 'quiet-text'} role="status">${open.length
      ? `Please look at ${count(open.length, 'column')}: confirm what ${open.length === 1 ? 'it is' : 'each is'}, or change it.`
      : 'Change what a column is, if it is not right.'}</p>
    ${open.length > 1 && html`<p><button type="button" onClick=${confirm}>Yes, all ${number(open.length)} are as suggested</button></p>`}
    <table class="columns-table">
      <thead><tr><th scope="col">Column</th><th scope="col">What it is</th>
        <th scope="col">First ${count(seen.rows.length, 'row')}</th></tr></thead>
      <tbody>${shown.map((column) => html`<${ColumnRow} key=${column.name} column=${column} roles=${known}
        values=${seen.rows.map((row) => row[column.name] ?? null)} chosen=${chosen[column.name]}
        decide=${(role) => decide(column.name, role, again && role !== (chosen[column.name] ?? column.role))} />`)}
      </tbody>
    </table>
    ${more > 0 && html`<p class="quiet-text">and ${count(more, 'more column')} of models</p>`}
  </fieldset>`;
}

/**
 * @param {{column: Column, values: unknown[], roles: string[][], chosen?: string, decide: SetText}} props
 */
function ColumnRow({ column: { name, role, doubt, fixed }, values, roles, chosen, decide }) {
  const open = doubt && chosen === undefined;
  const now = chosen ?? role;
  const title = ROLES.find(([known]) => known === now)?.[1] ?? now;
  return html`<tr class=${open ? 'open' : ''}>
    <th scope="row"><bdi>${name}</bdi></th>
    <td>
      ${fixed ? title : html`<select aria-label=${`What ${name} is`} value=${now}
          onChange=${(event) => decide(event.currentTarget.value)}>
        ${roles.map(([known, words]) => html`<option key=${known} value=${known}>${words}</option>`)}
      </select>`}
      ${open && html`<p class="doubt" dir="auto">${doubt}</p>
        <button type="button" onClick=${() => decide(now)}>
          Yes, ${title}<span class="sr-only">: ${name}</span></button>`}
    </td>
    <td class="values">${values.map((value, place) => html`<span key=${place} dir="auto">${cell(value)}</span>`)}</td>
  </tr>`;
}

/** A value in short. @param {unknown} value */
function cell(value) {
  if (value === null) return '–';
  const words = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const [, kind] = /^data:(image|audio)\//.exec(words) ?? [];
  return kind ? { image: 'a picture', audio: 'a sound' }[kind] : words;
}
