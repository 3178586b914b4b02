import type { IBufferCell, IBufferLine } from "@xterm/headless";
import { toVisible } from "../../text/visible.ts";

/** Neighbouring cells of the same look. */
export interface Run {
  readonly text: string;
  readonly className: string;
  readonly style?: { readonly color?: string; readonly backgroundColor?: string } | undefined;
}

/** The cells of a line up to its last character; those that nobody would see are named. */
export function toRuns(line: IBufferLine, columns: number): readonly Run[] {
  const runs: { text: string; className: string; style?: Run["style"]; key: string }[] = [];
  const width = line.translateToString(true).length === 0 ? 0 : Math.min(columns, line.length);
  let blank = "";
  for (let column = 0; column < width; column++) {
    const cell = line.getCell(column);
    // The second half of a wide character has no width of its own.
    if (!cell || cell.getWidth() === 0) continue;
    const look = lookOf(cell);
    const text = cell.getChars() || " ";
    const key = `${look.className} ${look.style?.color} ${look.style?.backgroundColor}`;
    if (text === " " && key === PLAIN) {
      blank += " ";
      continue;
    }
    const last = runs.at(-1);
    if (last?.key === key) last.text += blank + text;
    else {
      if (blank !== "") runs.push({ text: blank, className: "", key: PLAIN });
      runs.push({ text, ...look, key });
    }
    blank = "";
  }
  return runs.map(({ text, className, style }) => ({ text: toVisible(text), className, style }));
}

const PLAIN = " undefined undefined";

function lookOf(cell: IBufferCell): Omit<Run, "text"> {
  const classes: string[] = [];
  const style: { color?: string; backgroundColor?: string } = {};
  if (cell.isBold()) classes.push("bold");
  if (cell.isDim()) classes.push("dim");
  if (cell.isItalic()) classes.push("italic");
  if (cell.isUnderline()) classes.push("underline");
  if (cell.isInverse()) classes.push("inverse");
  if (cell.isFgPalette()) addPalette(classes, style, "color", cell.getFgColor());
  else if (cell.isFgRGB()) style.color = toHex(cell.getFgColor());
  if (cell.isBgPalette()) addPalette(classes, style, "backgroundColor", cell.getBgColor());
  else if (cell.isBgRGB()) style.backgroundColor = toHex(cell.getBgColor());
  return { className: classes.join(" "), ...(Object.keys(style).length > 0 && { style }) };
}

/** The sixteen named colours follow the theme; the others are fixed. */
function addPalette(
  classes: string[],
  style: { color?: string; backgroundColor?: string },
  field: "color" | "backgroundColor",
  index: number,
): void {
  if (index < 16) classes.push(`${field === "color" ? "fg" : "bg"}-${index}`);
  else style[field] = toHex(paletteColour(index));
}

function paletteColour(index: number): number {
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return (grey << 16) | (grey << 8) | grey;
  }
  const level = (value: number) => (value === 0 ? 0 : 55 + value * 40);
  const cube = index - 16;
  return (level(Math.floor(cube / 36)) << 16) | (level(Math.floor(cube / 6) % 6) << 8) | level(cube % 6);
}

const toHex = (colour: number): string => `#${colour.toString(16).padStart(6, "0")}`;
