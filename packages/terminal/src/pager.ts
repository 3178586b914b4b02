import { toOneLine } from "@octant/core";
import type { Device } from "./device.ts";
import { type Palette, paint } from "./paint.ts";
import { type Line, lineWidth, plainText, span, truncate } from "./styled.ts";

const ENTER_ALTERNATE = "\x1b[?1049h\x1b[?25l";
const LEAVE_ALTERNATE = "\x1b[?25h\x1b[?1049l";

/**
 * Shows lines on the alternate screen until the person presses q or Escape; the scrollback is unchanged. It begins at
 * the end, or at `top`, and says whether every line was shown in full.
 */
export function runPager(
  device: Device,
  palette: Palette,
  lines: readonly Line[],
  { top = Math.max(lines.length - (device.rows - 1), 0) }: { top?: number } = {},
): Promise<{ isRead: boolean }> {
  const seen = new Set<number>();
  let search = "";
  let backward = false;
  let typing = false;
  let isMissing = false;
  /** The line that was found last. */
  let at = top;
  const rows = () => Math.max(device.rows - 1, 1);
  const last = () => Math.max(lines.length - rows(), 0);
  const draw = () => {
    top = Math.min(Math.max(top, 0), last());
    const shown = lines.slice(top, top + rows()).map((line, i) => {
      if (lineWidth(line) <= device.columns) seen.add(top + i);
      return fit(line, device.columns, palette);
    });
    const blank = Array.from({ length: rows() - shown.length }, () => "\x1b[K");
    const position =
      lines.length === 0 ? "empty" : `${top + 1}-${Math.min(top + rows(), lines.length)} of ${lines.length}`;
    const help = typing
      ? `${backward ? "?" : "/"}${search}`
      : `${isMissing ? `no "${toOneLine(search)}" · ` : ""}${position} · arrows, PageUp/PageDown, g/G, / ? search down, up, n N next, q back`;
    const status = fit([span(help, { role: "muted" })], device.columns, palette);
    device.write(`\x1b[?2026h\x1b[H${[...shown, ...blank, status].join("\r\n")}\x1b[?2026l`);
  };
  /** Goes on at the other end of the text. */
  const find = (isUp: boolean) => {
    const wanted = search.toLowerCase();
    if (wanted === "") return;
    const found = lines.flatMap((line, i) => (plainText(line).toLowerCase().includes(wanted) ? [i] : []));
    const next = isUp
      ? (found.findLast((i) => i < at) ?? found.at(-1))
      : (found.find((i) => i > at) ?? found[0]);
    isMissing = next === undefined;
    if (next !== undefined) at = top = next;
  };
  const typed = (key: string) => {
    if (key === "Enter" || key === "Escape") typing = false;
    else if (key === "Backspace") search = search.slice(0, -1);
    else if ([...key].length === 1) search += key;
    if (key !== "Enter") return;
    at = backward ? top + rows() : top - 1;
    find(backward);
  };
  const act = (key: string) => {
    const by = { Up: -1, k: -1, Down: 1, j: 1, PageUp: -rows(), PageDown: rows(), " ": rows() }[key];
    if (by !== undefined) at = top += by;
    if (key === "g") top = 0;
    if (key === "G") top = last();
    if (key === "n") find(backward);
    if (key === "N") find(!backward);
    if (key === "/" || key === "?") {
      typing = true;
      backward = key === "?";
      search = "";
    }
  };
  return new Promise((resolve) => {
    const leave = async () => {
      device.write(LEAVE_ALTERNATE);
      await device.stop();
      resolve({ isRead: seen.size === lines.length });
    };
    device.start((input) => {
      if (input.kind !== "key") return;
      isMissing = false;
      if (typing) typed(input.key);
      else if (["q", "Escape", "Ctrl-C", "Ctrl-O"].includes(input.key)) return void leave();
      else act(input.key);
      draw();
    }, draw);
    device.write(ENTER_ALTERNATE);
    draw();
  });
}

const fit = (line: Line, width: number, palette: Palette): string =>
  `${paint(lineWidth(line) > width ? truncate(line, width) : line, palette)}\x1b[K`;
