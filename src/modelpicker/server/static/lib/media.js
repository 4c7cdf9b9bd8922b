/** Which values of an item are pictures or audio that may be shown. */

const PICTURE = /^data:image\/(png|jpeg|gif|webp|avif|svg\+xml)[;,]/i;
const AUDIO = /^data:audio\/[\w.+-]+[;,]/i;
const PICTURE_FILE = /\.(png|jpe?g|gif|webp|avif|svg)$/i;
const AUDIO_FILE = /\.(mp3|wav|ogg|oga|opus|m4a|aac|flac|weba)$/i;
const PICTURE_FIELD = /^(image|img|picture|photo|figure|thumbnail)(_?ur[il])?$/i;
const AUDIO_FIELD = /^(audio|sound|recording|speech|voice)(_?ur[il])?$/i;
/** @type {Record<string, string>} */
const PORTS = { 'http:': '80', 'https:': '443' };

/**
 * What a field of an item is: a picture, audio, or neither. Only what the item itself contains counts, and what is on
 * a host that the server allows: the page's policy stops anything else.
 * @param {string} name of the field @param {unknown} value @param {string[]} hosts
 * @returns {'picture'|'audio'|null}
 */
export function mediaKind(name, value, hosts) {
  if (typeof value !== 'string') return null;
  if (PICTURE.test(value)) return 'picture';
  if (AUDIO.test(value)) return 'audio';
  const path = allowedPath(value, hosts);
  if (path === null) return null;
  if (PICTURE_FILE.test(path)) return 'picture';
  if (AUDIO_FILE.test(path)) return 'audio';
  return PICTURE_FIELD.test(name) ? 'picture' : AUDIO_FIELD.test(name) ? 'audio' : null;
}

/** The path of an address on an allowed host, else null. @param {string} value @param {string[]} hosts */
function allowedPath(value, hosts) {
  if (!hosts.length || value.length > 2_000 || !/^https?:\/\/\S+$/i.test(value)) return null;
  try {
    const { host, hostname, port, protocol, pathname } = new URL(value);
    const full = `${hostname}:${port || PORTS[protocol]}`;
    return hosts.some((allowed) => [host, full].includes(allowed.toLowerCase())) ? pathname : null;
  } catch {
    return null;
  }
}
