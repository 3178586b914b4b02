import { UNSHOWN } from "./elements.ts";
import type { HtmlElement } from "./html-events.ts";

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
