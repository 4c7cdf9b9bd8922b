// Types that many modules of the page share. What the server sends is in api.d.ts.

/** A class or a model, as the server calls it. */
type Name = string | number;

/** What somebody says about an item: a class, or a document of grades, of a preference, or of several classes. */
type Answer = Name | Api.LabelDocument;

/** The views of one campaign. */
type Tab = 'label' | 'standing' | 'labels' | 'files' | 'settings';

/** A request that failed, as `api` throws it. */
interface RequestError extends Error {
  status: number;
  retryAfter: number | null;
  /** Whether the same request may succeed later. */
  readonly temporary: boolean;
}

/** An event at an element that has a handler for it. */
type EventOn<Target extends Element, Kind extends Event = Event> = Kind & { readonly currentTarget: Target };

/** What a form does with what was typed or chosen. */
type SetText = (value: string) => void;

/** Answer with a class; whether that was taken. */
type Choose = (label: Name, event: UIEvent) => boolean;
