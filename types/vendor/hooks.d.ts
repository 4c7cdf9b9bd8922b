// What the page uses of Preact's hooks (vendor/hooks.mjs).

type Inputs = readonly unknown[];
type Effect = () => void | (() => void);
type Setter<Value> = (value: Value | ((before: Value) => Value)) => void;

export function useState<Value>(first: Value | (() => Value)): [Value, Setter<Value>];
export function useReducer<Value>(reduce: (before: Value) => Value, first: Value): [Value, () => void];
export function useReducer<Value, Action>(
  reduce: (before: Value, action: Action) => Value, first: Value,
): [Value, (action: Action) => void];
/** What refers to an element is null at first, but set before any effect or handler runs. */
export function useRef<Value>(first: null): { current: Value };
export function useRef<Value>(first: Value): { current: Value };
export function useMemo<Value>(make: () => Value, inputs: Inputs): Value;
export function useCallback<Call>(call: Call, inputs: Inputs): Call;
export function useEffect(effect: Effect, inputs?: Inputs): void;
export function useLayoutEffect(effect: Effect, inputs?: Inputs): void;
export function useErrorBoundary(report?: (error: unknown) => void): [unknown, () => void];
export function useId(): string;
