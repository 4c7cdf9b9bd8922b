/** How the page formats numbers, names and lists. */

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const exactTenths = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** 1497 → "1,497" @param {number} value */
export const number = (value) => whole.format(value);

/** 1, "label" → "1 label"; 2, "label" → "2 labels" @param {number} value @param {string} noun */
export const count = (value, noun, plural = `${noun}s`) => `${number(value)} ${value === 1 ? noun : plural}`;

/** A gap within -1 to 1: estimates from few labels may lie outside. @param {number} gap */
export const clampGap = (gap) => Math.max(-1, Math.min(1, gap));

/** A difference in percentage points: 0.013 → "1.3 points" @param {number} gap */
export function points(gap) {
  const size = Math.abs(clampGap(gap)) * 100;
  if (size > 0 && size < 0.1) return 'less than 0.1 points';
  const text = tenths.format(size);
  return `${text} ${text === '1' ? 'point' : 'points'}`;
}

const WORST = 'of the cost of the worst mistake';

/** What a percentage point is a part of: "of accuracy" @param {string} loss as certificates call it */
export const pointsOf = (loss) => (
  { grades: 'of the mean grade', preference: 'of the items', cost: WORST, 'weighted accuracy': WORST }[loss] ?? `of ${loss}`);

/**
 * What a campaign measures that asks for this, by the name that certificates have for it.
 * @param {string} askFor @param {Record<string, unknown>} [options] of a pool
 */
export function lossOf(askFor, options = {}) {
  const { loss } = /** @type {{loss?: {name: string}}} */ (options);
  return loss?.name ?? (askFor === 'class' ? 'accuracy' : askFor);
}

/** The same for a table: 0.013 → "1.3" @param {number} gap */
export const pointsFigure = (gap) => exactTenths.format(clampGap(gap) * 100)
  .replace(/^-0\.0$/, '0.0').replace('-', '−');

/** A share: 0.25 → "25 %" @param {number} share */
export function percent(share) {
  const size = share * 100;
  if (size > 0 && size < 0.1) return '< 0.1 %';
  return `${size < 10 ? tenths.format(size) : whole.format(size)} %`;
}

/** An estimate of mistakes: 22.98 → "23", 2.5 → "2.5" @param {number} value */
export const amount = (value) => (value < 100 ? tenths : whole).format(value);

/** The name of an item: its key, or its number. @param {{id: number, key?: string|null}} round */
export const itemName = (round) => round.key ?? `item ${round.id}`;

/** ["a", "b", "c"] → "a, b and c" @param {string[]} names */
export function list(names) {
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** The same, the first few of them: "a, b and 7 others" @param {string[]} names @param {number} most */
export function several(names, most = 3) {
  if (names.length <= most) return list(names);
  return list([...names.slice(0, most - 1), count(names.length - most + 1, 'other')]);
}

/** A time, as this browser's clock has it. @param {string} at ISO 8601 */
export const when = (at) => new Date(at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

/** A class or a model as text; null is a model that gave no answer. @param {string|number|null} name */
export const text = (name) => (name === null ? 'no answer' : String(name));

/**
 * A label in words: a class, several classes, grades, or which of two answers is better.
 * @param {Name|Api.LabelDocument|null} label
 */
export function labelText(label) {
  if (label === null || typeof label !== 'object') return text(label);
  const { kind, grades } = label;
  if (!grades.length) return 'all wrong';
  if (kind === 'classes') return grades.map(([name]) => name).join(' or ');
  if (kind === 'grades') return grades.map(([answer, grade]) => `${answer}: ${grade}`).join('; ');
  const [[best, first], [other]] = grades.toSorted(([, one], [, two]) => two - one);
  return first === 0.5 ? `${best} and ${other} are equal` : `${best} is better than ${other}`;
}

/** The person behind an annotator, who may use several tabs: "mia/4f2c81aa" → "mia" @param {string} annotator */
export const personOf = (annotator) => annotator.split('/')[0] || annotator;

/**
 * What a person is called; nobody has to give a name: "page-4f2c81aa/…" → "unnamed (4f2c)"
 * @param {string|null} annotator
 */
export const personName = (annotator) => (!annotator ? 'nobody named'
  : personOf(annotator).replace(/^page-([0-9a-f]{4})[0-9a-f]{4}$/, 'unnamed ($1)'));
