import { hardWrap, type Line, span, widthOf } from "../styled.ts";

const CONTINUED = "↪ ";

/** A line of code or output behind a margin; where it is too wide, it continues below, with a mark. */
export function viewRows(line: Line, margin: string, width: number): Line[] {
  const room = Math.max(width - widthOf(margin), 1);
  const mark = margin.slice(0, -widthOf(CONTINUED)) + CONTINUED;
  return hardWrap(line, room).map((row, i) => [span(i === 0 ? margin : mark, { role: "muted" }), ...row]);
}
