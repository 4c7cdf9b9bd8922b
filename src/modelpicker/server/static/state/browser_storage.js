/** Values saved in the browser. If storage is full or forbidden, the page still works, but forgets them. */

/**
 * @param {Storage} storage
 * @param {string} key
 * @template T
 * @param {T} otherwise the result if there is no value, or none that can be read
 * @returns {T}
 */
export function readValue(storage, key, otherwise) {
  try {
    return JSON.parse(storage.getItem(`modelpicker:${key}`) ?? 'null') ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** @param {Storage} storage @param {string} key @param {unknown} value undefined removes it */
export function writeValue(storage, key, value) {
  try {
    if (value === undefined) storage.removeItem(`modelpicker:${key}`);
    else storage.setItem(`modelpicker:${key}`, JSON.stringify(value));
  } catch { /* see above */ }
}

/** The keys that begin with a prefix. @param {Storage} storage @param {string} prefix @returns {string[]} */
export function keysWithPrefix(storage, prefix) {
  try {
    const all = Array.from({ length: storage.length }, (_, place) => storage.key(place) ?? '');
    return all.filter((key) => key.startsWith(`modelpicker:${prefix}`)).map((key) => key.slice(12));
  } catch {
    return [];
  }
}
