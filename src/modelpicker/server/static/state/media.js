/** Media queries: reduced motion, width of the window. */

import { useEffect, useState } from '../lib/html.js';

export const STILL = '(prefers-reduced-motion: reduce)';

/** Whether a media query holds; renders again when that changes. @param {string} query */
export function useMedia(query) {
  const [holds, setHolds] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const changed = () => setHolds(media.matches);
    changed();
    media.addEventListener('change', changed);
    return () => media.removeEventListener('change', changed);
  }, [query]);
  return holds;
}
