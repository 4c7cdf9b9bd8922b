// What the page uses of htm 3 (vendor/htm.mjs).

/** What stands in a template. It cannot be told whose handler a function is, so its arguments are not checked. */
// deno-lint-ignore no-explicit-any
type Part = string | number | boolean | null | undefined | object | ((...given: any[]) => unknown);

declare const htm: {
  bind<Node>(
    h: (type: unknown, props: object | null, ...children: unknown[]) => Node,
  ): (strings: TemplateStringsArray, ...parts: Part[]) => Node;
};
export default htm;
