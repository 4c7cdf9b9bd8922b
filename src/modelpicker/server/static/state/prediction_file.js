/** A file of predictions: a preview by the server, the roles of its columns, and the upload to a campaign. */

import { count } from '../lib/format.js';
import { useRef, useState } from '../lib/html.js';
import { api } from './api.js';

export const FORMATS = '.csv,.tsv,.gz,.parquet,.pq,.npz,.jsonl,.ndjson,.json,.xlsx,.eval,.zip';

/**
 * @typedef {Api.ColumnDocument & {fixed?: boolean}} Column
 * @typedef {{file: File|null, seen: Api.FileLook|null, chosen: Record<string, string>, same: string, busy: boolean,
 *            error: RequestError|null}} Preview `same`: what will count as the same answer; a number is how far apart numbers may be
 */

/** @type {Preview} */
const NO_FILE = { file: null, seen: null, chosen: {}, same: 'exact', busy: false, error: null };

/**
 * The file that somebody chose, what the server found in it, and what they chose for its columns.
 * @param {(columns: Column[]) => Column[]} [settle] what the columns are in this form
 */
export function usePredictionFile(settle = (columns) => columns) {
  const [preview, setPreview] = useState(NO_FILE);
  const turn = useRef(0);
  const set = (/** @type {Partial<Preview>} */ change) => setPreview((before) => ({ ...before, ...change }));

  const read = async (/** @type {File} */ file, /** @type {Record<string, string>} */ chosen, same = preview.same) => {
    turn.current += 1;
    const mine = turn.current;
    set({ busy: true, error: null });
    /** @type {Partial<Preview>} */
    const found = await api.look(file, chosen, same).then((seen) => ({ seen }), (error) => ({ error }));
    if (mine === turn.current) set({ ...found, busy: false });
    return mine === turn.current ? found.seen : undefined;
  };
  const choose = (/** @type {File|null} */ file) => {
    turn.current += 1;
    setPreview({ ...NO_FILE, file, same: preview.same });
    return file ? read(file, {}) : Promise.resolve(undefined);
  };
  const columns = preview.seen ? settle(preview.seen.columns) : [];
  const decide = (/** @type {string} */ name, /** @type {string} */ role, /** @type {boolean} */ again) => {
    const chosen = { ...preview.chosen, [name]: role };
    set({ chosen });
    if (again && preview.file) read(preview.file, chosen);
  };
  const readAs = (/** @type {string} */ same) => {
    if (same === preview.same) return;
    set({ same });
    if (preview.file) read(preview.file, preview.chosen, same);
  };
  const open = columns.filter(({ name, doubt }) => doubt && preview.chosen[name] === undefined);
  const confirm = () => set({ chosen: { ...preview.chosen, ...Object.fromEntries(open.map(({ name, role }) => [name, role])) } });
  return { ...preview, columns, open, choose, decide, readAs, confirm };
}

/** @typedef {ReturnType<typeof usePredictionFile>} PredictionFile */

/**
 * Begin a campaign on the items of the file, and report the progress: first the upload, then what the server does.
 * @param {string} name of the campaign @param {File} file @param {Record<string, string>} columns
 * @param {Record<string, string>} wanted @param {(progress: string) => void} report
 */
export async function createPool(name, file, columns, wanted, report) {
  report('Uploading …');
  const ask = () => api.intakes()
    .then(({ intakes }) => intakes.filter((one) => one.name === name).forEach(({ words }) => report(`${words} …`)))
    .catch(() => undefined);
  const timer = setInterval(ask, 700);
  try {
    return await api.createPool(name, file, columns, wanted);
  } finally {
    clearInterval(timer);
  }
}

/**
 * Upload the file to a campaign, and report the progress.
 * @param {string} name of the campaign @param {File} file @param {Record<string, string>} columns
 * @param {boolean} atOnce @param {(progress: string) => void} report
 */
export async function upload(name, file, columns, atOnce, report) {
  report('Uploading …');
  const ask = () => api.campaign(name)
    .then(({ rounds, waiting_items: waiting }) => rounds + sum(waiting))
    .then((items) => items > 0 && report(`Uploading … ${count(items, 'item')} so far`))
    .catch(() => undefined);
  const timer = setInterval(ask, 1000);
  try {
    return await api.upload(name, file, columns, atOnce);
  } finally {
    clearInterval(timer);
  }
}

/** How many items of files have not been asked about yet. @param {Record<string, number>} waiting */
export const sum = (waiting) => Object.values(waiting).reduce((before, items) => before + items, 0);
