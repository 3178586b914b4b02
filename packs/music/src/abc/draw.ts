import abcjs from "abcjs";
import { malformed, orMalformed } from "../malformed.ts";
import { createSvgDocument, SvgElement } from "./svg-document.ts";

const STAFF_WIDTH = 740;

/** Sheet music as SVG. It needs globals that abcjs takes for a browser's, so it runs in a thread of its own. */
export function drawSheet(abc: string): string {
  const document = createSvgDocument();
  Object.assign(globalThis, { document, window: { console } });
  const target = new SvgElement("div");
  // abcjs checks only for the methods that it calls; its type asks for all of a browser's element.
  const element = target as unknown as Parameters<typeof abcjs.renderAbc>[0];
  orMalformed("tune", () => abcjs.renderAbc(element, abc, { staffwidth: STAFF_WIDTH }));
  const svg = target.children.find(({ tagName }) => tagName === "svg");
  if (!svg) throw malformed("tune", 0, "nothing was drawn");
  // Its only rule is for a page on which notes are dragged.
  for (const style of svg.children.filter(({ tagName }) => tagName === "style")) svg.removeChild(style);
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const [width, height] = [svg.getAttribute("width"), svg.getAttribute("height")];
  if (width && height && !svg.getAttribute("viewBox")) svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  return `${svg.toSvg()}\n`;
}
