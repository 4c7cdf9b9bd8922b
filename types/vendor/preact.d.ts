// What the page uses of Preact 11 (vendor/preact.mjs).

/** What a template becomes. Only Preact looks into it. */
export interface VNode {
  readonly type: unknown;
  readonly props: object;
}

export type Child = VNode | Child[] | string | number | boolean | null | undefined;

export const Fragment: unique symbol;
export function h(type: unknown, props: object | null, ...children: unknown[]): VNode;
export function render(child: Child, parent: Element): void;
