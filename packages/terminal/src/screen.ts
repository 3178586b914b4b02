import type { Device } from "./device.ts";
import { type Palette, paint } from "./paint.ts";
import { type Line, lineWidth, truncate } from "./styled.ts";

/** The redrawn part of the screen, with the cursor's position in it. */
export type Live = { lines: readonly Line[]; cursor: { row: number; column: number } };

type Drawn = { painted: string[]; widths: number[]; row: number; column: number };

const BEGIN_FRAME = "\x1b[?2026h\x1b[?25l";
const END_FRAME = "\x1b[?25h\x1b[?2026l";
const ERASE_LINE = "\x1b[2K";
const ERASE_BELOW = "\x1b[J";
const EMPTY: Drawn = { painted: [], widths: [], row: 0, column: 0 };

/**
 * An append-only screen: committed lines are written once into the terminal's own scrollback and never touched again.
 * Only the live region below them is redrawn, by line, in synchronised frames.
 */
export class Screen {
  readonly #device: Device;
  readonly #palette: Palette;
  #drawn: Drawn = EMPTY;
  #columns: number;
  #rows: number;

  constructor(device: Device, palette: Palette) {
    this.#device = device;
    this.#palette = palette;
    this.#columns = device.columns;
    this.#rows = device.rows;
  }

  /** Writes finished lines above the live region and redraws it. */
  draw(committed: readonly Line[], live: Live): void {
    const next = this.#layout(live);
    // A lower window may have lost the lines below the cursor.
    const resized = this.#columns !== this.#device.columns || this.#rows !== this.#device.rows;
    const frame = resized || committed.length > 0 ? this.#append(committed, next) : this.#update(next);
    this.#columns = this.#device.columns;
    this.#rows = this.#device.rows;
    this.#drawn = next;
    if (frame !== "") this.#device.write(BEGIN_FRAME + frame + END_FRAME);
  }

  /** Removes the live region, so that the shell's prompt follows the last committed line. */
  clear(): void {
    this.#device.write(BEGIN_FRAME + this.#toTop() + ERASE_BELOW + END_FRAME);
    this.#drawn = EMPTY;
  }

  /** Another program used the terminal; the live region is drawn below its output. */
  forget(): void {
    this.#drawn = EMPTY;
  }

  /** Never as tall as the screen: lines that scroll out of sight cannot be redrawn. The last line is the status. */
  #layout({ lines, cursor }: Live): Drawn {
    const width = this.#device.columns;
    const room = Math.max(this.#device.rows - 1, 1);
    const hidden = Math.min(Math.max(lines.length - room, 0), Math.max(cursor.row, 0));
    const end = hidden + room;
    const isCut = end < lines.length && cursor.row < end - 1;
    const shown = (
      isCut ? [...lines.slice(hidden, end - 1), ...lines.slice(-1)] : lines.slice(hidden, end)
    ).map((line) => (lineWidth(line) > width ? truncate(line, width) : line));
    return {
      painted: shown.map((line) => paint(line, this.#palette)),
      widths: shown.map(lineWidth),
      row: Math.min(cursor.row - hidden, Math.max(shown.length - 1, 0)),
      column: Math.min(cursor.column, width - 1),
    };
  }

  #append(committed: readonly Line[], next: Drawn): string {
    const lines = committed.map((line) => `${paint(line, this.#palette)}\r\n`).join("");
    return `${this.#toTop()}${ERASE_BELOW}${lines}${next.painted.join("\r\n")}${toCursor(next)}`;
  }

  /** Rewrites only the lines that differ. */
  #update(next: Drawn): string {
    const { painted: before, row, column } = this.#drawn;
    const after = next.painted;
    const unchanged = before.length === after.length && before.every((line, i) => line === after[i]);
    if (unchanged && row === next.row && column === next.column) return "";
    let frame = "";
    let at = row;
    const goTo = (target: number) => {
      frame += `\r${vertical(target - at)}`;
      at = target;
    };
    for (const [i, line] of after.entries()) {
      if (line === before[i]) continue;
      if (i < before.length) {
        goTo(i);
        frame += ERASE_LINE + line;
        continue;
      }
      if (at !== i - 1) goTo(Math.max(i - 1, 0));
      frame += i === 0 ? line : `\r\n${line}`;
      at = i;
    }
    if (after.length < before.length) {
      goTo(Math.max(after.length - 1, 0));
      if (after.length === 0) frame += ERASE_BELOW;
      else frame += `${vertical(1)}\r${ERASE_BELOW}${vertical(-1)}`;
    }
    goTo(next.row);
    return `${frame}${next.column > 0 ? `\x1b[${next.column}C` : ""}`;
  }

  /** Moves to the first column of the live region. A narrower terminal has wrapped lines that were wider. */
  #toTop(): string {
    const { widths, row, column } = this.#drawn;
    const columns = this.#device.columns;
    if (columns >= this.#columns) return `\r${vertical(-row)}`;
    const rowsOf = (width: number) => Math.max(1, Math.ceil(width / columns));
    const above = widths.slice(0, row).reduce((sum, width) => sum + rowsOf(width), 0);
    return `\r${vertical(-(above + Math.floor(column / columns)))}`;
  }
}

const toCursor = ({ painted, row, column }: Drawn): string =>
  `\r${vertical(row - Math.max(painted.length - 1, 0))}${column > 0 ? `\x1b[${column}C` : ""}`;

const vertical = (rows: number): string => (rows > 0 ? `\x1b[${rows}B` : rows < 0 ? `\x1b[${-rows}A` : "");
