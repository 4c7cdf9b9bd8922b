/** Charts to take away: as CSV, SVG and PNG. Nothing leaves the browser. */

const NAMESPACE = 'http:' + '//www.w3.org/2000/svg'; // a name, not an address
const INLINED = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'font-size', 'font-weight', 'font-family',
  'text-anchor'];
const HEAD = 34; // pixels above the chart, for its title
const PIXELS = 2; // of the picture, for each of the screen

/** @param {string} name of the file @param {Blob} content */
export function saveFile(name, content) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** @param {string|number|null} value */
const cell = (value) => {
  const text = value === null ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/**
 * Columns as CSV, with all digits.
 * @param {string[]} heads @param {(number|null)[][]} columns
 */
export function csv(heads, columns) {
  const rows = columns[0].map((_, row) => columns.map((column) => column[row] ?? null));
  return [heads, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/**
 * A chart as an SVG file that looks the same elsewhere: with its title, a ground, and all styles written out.
 * @param {SVGSVGElement} chart @param {string} title
 */
export function standalone(chart, title) {
  const { width, height } = chart.getBoundingClientRect();
  const copy = /** @type {SVGSVGElement} */ (chart.cloneNode(true));
  const drawn = [...chart.querySelectorAll('*')];
  for (const [place, element] of [...copy.querySelectorAll('*')].entries()) {
    const style = getComputedStyle(drawn[place]);
    for (const name of INLINED) element.setAttribute(name, style.getPropertyValue(name));
    element.removeAttribute('class');
  }
  for (const hidden of copy.querySelectorAll('[data-cursor]')) hidden.remove();
  const style = getComputedStyle(chart);
  const add = (/** @type {string} */ kind, /** @type {Record<string, string|number>} */ values) => {
    const element = document.createElementNS(NAMESPACE, kind);
    for (const [name, value] of Object.entries(values)) element.setAttribute(name, String(value));
    copy.prepend(element);
    return element;
  };
  const font = { 'font-family': style.fontFamily, 'font-size': 15, 'font-weight': 600, fill: style.color };
  add('text', { x: 8, y: 22 - HEAD, ...font }).textContent = title;
  const ground = getComputedStyle(chart.closest('.card') ?? document.body).backgroundColor;
  add('rect', { x: 0, y: -HEAD, width, height: height + HEAD, fill: ground });
  copy.setAttribute('xmlns', NAMESPACE);
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height + HEAD));
  copy.setAttribute('viewBox', `0 ${-HEAD} ${width} ${height + HEAD}`);
  return new XMLSerializer().serializeToString(copy);
}

/** An SVG file as a picture. @param {string} svg @returns {Promise<Blob>} */
export async function asPicture(svg) {
  const picture = new Image();
  picture.src = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  try {
    await picture.decode();
    const canvas = document.createElement('canvas');
    canvas.width = picture.naturalWidth * PIXELS;
    canvas.height = picture.naturalHeight * PIXELS;
    canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, failed) => {
      canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error('This browser cannot draw the picture.'))));
    });
  } finally {
    URL.revokeObjectURL(picture.src);
  }
}
