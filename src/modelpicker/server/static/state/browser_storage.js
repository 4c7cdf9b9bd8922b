/** Values kept in the browser. Storage may be full or forbidden; then the page works on, and only forgets. */

/**
 * @param {Storage} storage
 * @param {string} key
 * @template T
 * @param {T} otherwise if there is none, or none that can be read
 * @returns {T}
 */
export function read(storage, key, otherwise) {
  try {
    return JSON.parse(storage.getItem(`modelpicker:${key}`) ?? 'null') ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** @param {Storage} storage @param {string} key @param {unknown} value none is kept if undefined */
export function keep(storage, key, value) {
  try {
    if (value === undefined) storage.removeItem(`modelpicker:${key}`);
    else storage.setItem(`modelpicker:${key}`, JSON.stringify(value));
  } catch { /* see above */ }
}

/** The keys that begin so. @param {Storage} storage @param {string} prefix @returns {string[]} */
export function keysFrom(storage, prefix) {
  try {
    const all = Array.from({ length: storage.length }, (_, place) => storage.key(place) ?? '');
    return all.filter((key) => key.startsWith(`modelpicker:${prefix}`)).map((key) => key.slice(12));
  } catch {
    return [];
  }
}
