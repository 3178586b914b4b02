import { type Attributes, createTagReader } from "../../tags.ts";
import { impliedEnd, scopeOf, UNSHOWN, VOID } from "./elements.ts";

export interface HtmlElement {
  readonly name: string;
  readonly attributes: Attributes;
  /** The number of elements before it; the same in every pass over the same page. */
  readonly index: number;
}

export interface HtmlHandler {
  open(element: HtmlElement): void;
  text(text: string): void;
  close(element: HtmlElement): void;
}

/** How far up an end tag is matched: pages that need more are broken or hostile. */
const MAX_SCAN = 256;

/** Emits the elements and texts of a page in order, in linear time at any depth; every opened element is closed. */
export function readHtml(html: string, handler: HtmlHandler): void {
  const stack: HtmlElement[] = [];
  let count = 0;
  const popTo = (depth: number) => {
    while (stack.length > depth) handler.close(stack.pop()!);
  };
  const depthOf = (wanted: (name: string) => boolean, isScope: (name: string) => boolean): number => {
    for (let at = stack.length - 1; at >= Math.max(0, stack.length - MAX_SCAN); at--) {
      const open = stack[at]!.name;
      if (wanted(open)) return at;
      if (isScope(open)) return -1;
    }
    return -1;
  };
  const begin = (name: string, attributes: Attributes) => {
    const { ends, scope } = impliedEnd(name);
    const depth =
      ends.size === 0
        ? -1
        : depthOf(
            (open) => ends.has(open),
            (open) => scope.has(open),
          );
    if (depth >= 0) popTo(depth);
    const element = { name, attributes, index: count++ };
    handler.open(element);
    if (VOID.has(name)) handler.close(element);
    else stack.push(element);
  };
  const end = (closed: string) => {
    const scope = scopeOf(closed);
    const depth = depthOf(
      (open) => open === closed,
      (open) => scope.has(open),
    );
    if (depth >= 0) popTo(depth);
  };

  const tags = createTagReader(html, "html", { open: begin, close: end, text: handler.text });
  tags.write(html);
  tags.end();
  popTo(0);
}

/** Whether a person would not see the element: hidden text is meant for machines, and often to deceive them. */
export function isHidden({ name, attributes }: HtmlElement): boolean {
  if (UNSHOWN.has(name)) return true;
  const { hidden, style, "aria-hidden": ariaHidden } = attributes;
  if (hidden !== undefined && hidden !== "until-found") return true;
  if (ariaHidden?.trim().toLowerCase() === "true") return true;
  if (name === "dialog" && attributes["open"] === undefined) return true;
  return style !== undefined && style.length > 0 && hidesByStyle(style);
}

/** Nobody writes a longer style by hand, and declarations at its end count as much as those at its start. */
const MAX_STYLE_CHARS = 4_096;

function hidesByStyle(style: string): boolean {
  const declarations = new Map<string, string>();
  for (const declaration of style.slice(0, MAX_STYLE_CHARS).toLowerCase().split(";")) {
    const colon = declaration.indexOf(":");
    if (colon < 0) continue;
    const value = declaration
      .slice(colon + 1)
      .replace("!important", "")
      .trim();
    declarations.set(declaration.slice(0, colon).trim(), value);
  }
  const is = (property: string, pattern: RegExp) => pattern.test(declarations.get(property) ?? "");
  const isZero = (property: string) => is(property, ZERO);
  return (
    is("display", /^none$/) ||
    is("visibility", /^(hidden|collapse)$/) ||
    is("content-visibility", /^hidden$/) ||
    is("color", /^transparent$/) ||
    isZero("opacity") ||
    isZero("font-size") ||
    ((isZero("width") || isZero("height") || isZero("max-height") || isZero("max-width")) &&
      is("overflow", /^(hidden|clip)/)) ||
    (isZero("width") && isZero("height")) ||
    is("clip", /^rect\((0|1px)/) ||
    is("clip-path", /^inset\((50|100)%/) ||
    ["left", "top", "right", "text-indent", "margin-left", "margin-top"].some((side) => is(side, FAR_OFF))
  );
}

const ZERO = /^0*\.?0+(%|[a-z]{1,4})?$/;
const FAR_OFF = /^-\d{3,}(\.\d+)?(px|em|rem|vw|vh|%)/;
