/** Preact, its hooks and htm in one place, so that every component has one import for markup. */

import htm from '../vendor/htm.mjs';
import { Fragment, h, render } from '../vendor/preact.mjs';

/** Markup as a tagged template. Values become text or properties, never HTML. */
export const html = htm.bind(h);

export { Fragment, h, render };
export {
  useCallback, useEffect, useErrorBoundary, useId, useLayoutEffect, useMemo, useReducer, useRef, useState,
} from '../vendor/hooks.mjs';
