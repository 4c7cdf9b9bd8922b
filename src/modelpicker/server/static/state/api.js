/** All requests to the server, and the error that they throw. */

import { connection } from './connection.js';

// Relative to the page, so that it also works behind a proxy that serves it under a path.
const BASE = new URL('api/v1/', document.baseURI);

/** A request that failed: `status` 0 means that no response came. */
export class ApiError extends Error {
  /** @param {number} status @param {string} detail @param {number|null} retryAfter in seconds */
  constructor(status, detail, retryAfter = null) {
    super(detail);
    this.status = status;
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may succeed later. */
  get temporary() {
    return this.status === 0 || this.status >= 500 || [401, 408, 425, 429].includes(this.status);
  }
}

/** @type {() => void} */
let signedOutListener = () => undefined;

/** Set what happens when a request finds that nobody is signed in. @param {() => void} listener */
export function whenSignedOut(listener) {
  signedOutListener = listener;
}

/**
 * One request; the decoded JSON, or null where there is none.
 * @param {string} method
 * @param {string} path below api/v1
 * @param {{json?: unknown, raw?: Blob, keepalive?: boolean, parting?: boolean}} [options] `parting`: somebody leaves,
 *   so that nobody is asked to sign in if they have signed out meanwhile
 * @returns {Promise<any>}
 */
async function call(method, path, { json, raw, keepalive = false, parting = false } = {}) {
  /** @type {Record<string, string>} */
  const headers = { Accept: 'application/json' };
  if (json !== undefined) headers['Content-Type'] = 'application/json';
  if (raw !== undefined) headers['Content-Type'] = 'application/octet-stream';
  const body = raw ?? (json === undefined ? undefined : JSON.stringify(json));
  let response;
  let text;
  try {
    response = await fetch(new URL(path, BASE), { method, headers, body, keepalive, cache: 'no-store' });
    text = await response.text();
  } catch {
    connection.markDown();
    throw new ApiError(0, 'The server cannot be reached.');
  }
  connection.markUp();
  if (!response.ok) throw failure(response, text, parting || path === 'session');
  return text ? JSON.parse(text) : null;
}

/** @param {Response} response @param {string} text @param {boolean} quiet */
function failure(response, text, quiet) {
  if (response.status === 401 && !quiet) signedOutListener();
  return new ApiError(response.status, detailOf(text, response), seconds(response.headers.get('Retry-After')));
}

/** The server's own message, if there is one. @param {string} text @param {Response} response */
function detailOf(text, response) {
  try {
    const { detail, title } = JSON.parse(text);
    if (typeof detail === 'string' && detail) return detail;
    if (typeof title === 'string' && title) return title;
  } catch { /* not a problem document; perhaps the page of a proxy */ }
  return `The server answered ${response.status} ${response.statusText}`.trim() + '.';
}

/** @param {string|null} header */
function seconds(header) {
  const value = Number(header);
  return header !== null && Number.isFinite(value) ? value : null;
}

/** @param {string} name of a campaign @param {string} rest of the path */
const at = (name, rest = '') => `campaigns/${encodeURIComponent(name)}${rest}`;
/**
 * The query string for a file: its name, and the roles that somebody chose for its columns.
 * @param {File} file @param {Record<string, string>} columns
 */
const filename = (file, columns = {}) => {
  const chosen = Object.keys(columns).length ? `&columns=${encodeURIComponent(JSON.stringify(columns))}` : '';
  return `?filename=${encodeURIComponent(file.name)}${chosen}`;
};

/** A query string of the values that are there. @param {Record<string, string|number>} values */
const query = (values) => {
  const given = Object.entries(values).filter(([, value]) => value !== '');
  return given.length ? `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : '';
};

export const api = {
  /** @returns {Promise<Api.SessionDocument>} */
  session: () => call('GET', 'session'),
  /** @param {string} token @returns {Promise<Api.SessionDocument>} */
  signIn: (token) => call('POST', 'session', { json: { token } }),
  signOut: () => call('DELETE', 'session'),

  /** @returns {Promise<Api.SettingsDocument>} */
  settings: () => call('GET', 'settings'),
  /** @returns {Promise<Api.Summary[]>} */
  campaigns: () => call('GET', 'campaigns').then((answer) => answer.campaigns),
  /** @param {Api.NewCampaign} campaign @returns {Promise<Api.Described>} */
  create: (campaign) => call('POST', 'campaigns', { json: campaign }),
  /**
   * Begin a campaign on the items of a file.
   * @param {string} name @param {File} file @param {Record<string, string>} columns
   * @param {Record<string, string>} wanted @returns {Promise<Api.Described>}
   */
  createPool: (name, file, columns, wanted) => {
    const more = new URLSearchParams({ name, ...wanted });
    return call('POST', `campaigns${filename(file, columns)}&${more}`, { raw: file });
  },
  /** Files that campaigns are just being made of. @returns {Promise<Api.Intakes>} */
  intakes: () => call('GET', 'intakes'),
  /** @param {string} name @returns {Promise<Api.Described>} */
  campaign: (name) => call('GET', at(name)),
  /** @param {string} name @returns {Promise<Api.Classes>} */
  classes: (name) => call('GET', at(name, '/classes')),

  /** @param {string} name @param {Api.NewTerms} json @returns {Promise<Api.Described>} */
  revise: (name, json) => call('PATCH', at(name), { json }),
  /** @param {string} name */
  remove: (name) => call('DELETE', at(name, `?confirm=${encodeURIComponent(name)}`)),
  /** @returns {Promise<Api.TokenDocument[]>} */
  tokens: () => call('GET', 'tokens').then((answer) => answer.tokens),
  /** @param {Api.NewToken} json @returns {Promise<Api.MadeToken>} */
  makeToken: (json) => call('POST', 'tokens', { json }),
  /** @param {string} name */
  dropToken: (name) => call('DELETE', `tokens/${encodeURIComponent(name)}`),
  /** @param {string} name @param {Record<string, string|number>} wanted @returns {Promise<Api.LabelRows>} */
  labels: (name, wanted) => call('GET', at(name, `/labels${query(wanted)}`)),

  /** @param {string} name @param {number} most @returns {Promise<Api.ConflictList>} */
  conflicts: (name, most) => call('GET', at(name, `/conflicts${query({ most })}`)),
  /** @param {string} name @param {Api.NewSettlement} json @returns {Promise<Api.Told>} */
  settle: (name, json) => call('POST', at(name, '/settlements'), { json }),
  /** @param {string} name @returns {Promise<Api.AgreementDocument>} */
  agreement: (name) => call('GET', at(name, '/agreement')),

  /** @param {string} name @param {Api.NewLease} json @returns {Promise<Api.Leased>} */
  lease: (name, json) => call('POST', at(name, '/leases'), { json }),
  /** @param {string} name @param {number} id */
  release: (name, id) => call('DELETE', at(name, `/leases/${id}`), { keepalive: true, parting: true }),
  /** @param {string} name @param {Api.NewLabel} json @returns {Promise<Api.Told>} */
  label: (name, json) => call('POST', at(name, '/labels'), { json, keepalive: true }),
  /** @param {string} name @param {Api.NewSkip} json @returns {Promise<Api.Told>} */
  skip: (name, json) => call('POST', at(name, '/skips'), { json, keepalive: true }),
  /** @param {string} name @param {Api.NewRetraction} json @returns {Promise<Api.Retracted>} */
  retract: (name, json) => call('POST', at(name, '/retractions'), { json, keepalive: true }),

  /** @param {string} name @param {Api.NewNote} json @returns {Promise<Api.Noted>} */
  note: (name, json) => call('POST', at(name, '/notes'), { json, keepalive: true }),

  /** @param {string} name @returns {Promise<Api.StandingDocument>} */
  standing: (name) => call('GET', at(name, '/standing')),
  /** @param {string} name @returns {Promise<Api.ChartsDocument>} */
  charts: (name) => call('GET', at(name, '/charts')),

  /**
   * @param {File} file @param {Record<string, string>} columns @param {string} same what will count as the same answer
   * @returns {Promise<Api.FileLook>}
   */
  look: (file, columns, same) => call('POST', `files${filename(file, columns)}&same=${same}`, { raw: file }),
  /**
   * @param {string} name @param {File} file @param {Record<string, string>} columns @param {boolean} atOnce
   * @returns {Promise<Api.FileTaken>}
   */
  upload: (name, file, columns, atOnce) => call('POST', at(name, `/files${filename(file, columns)}${
    atOnce ? '&at_once=true' : ''}`), { raw: file }),
  /** @param {string} name @returns {Promise<Api.ItemsDropped>} */
  dropItems: (name) => call('DELETE', at(name, '/files')),
};

/** The address of a campaign's live events. @param {string} name */
export const liveUrl = (name) => new URL(at(name, '/live'), BASE).href;

/** The address of the report. @param {string} name */
export const reportUrl = (name) => new URL(at(name, '/report'), BASE).href;

/** The address of a download. @param {string} name @param {'export'|'answers'|'labels'} what @param {string} format */
export const downloadUrl = (name, what, format) => new URL(at(name, `/${what}?format=${format}`), BASE).href;

/** The address of answers as CSV. @param {string} name @param {Record<string, string|number>} wanted */
export const labelsUrl = (name, wanted) => new URL(at(name, `/labels${query({ ...wanted, format: 'csv' })}`), BASE).href;

connection.pingWith(() => api.session());
