import type { Line, Role, Style } from "./styled.ts";

export type ColorDepth = "none" | "16" | "256" | "truecolor";
export type Background = "dark" | "light";
export type Palette = { depth: ColorDepth; background: Background };

/** One colour per colour depth, as SGR parameters. */
type Color = { "16": string; "256": string; truecolor: string };

const rgb = (basic: string, indexed: number, red: number, green: number, blue: number): Color => ({
  "16": basic,
  "256": `38;5;${indexed}`,
  truecolor: `38;2;${red};${green};${blue}`,
});

const DARK: Readonly<Record<Role, Color>> = {
  heading: rgb("96", 117, 122, 200, 255),
  code: rgb("36", 116, 143, 211, 203),
  link: rgb("94", 75, 97, 175, 239),
  quote: rgb("90", 245, 140, 140, 150),
  rule: rgb("90", 240, 95, 95, 105),
  marker: rgb("33", 180, 215, 175, 120),
  keyword: rgb("35", 176, 198, 120, 221),
  string: rgb("32", 114, 152, 195, 121),
  comment: rgb("90", 244, 128, 134, 144),
  number: rgb("33", 173, 209, 154, 102),
  name: rgb("94", 75, 97, 175, 239),
  type: rgb("36", 80, 86, 182, 194),
  added: rgb("32", 114, 120, 200, 120),
  removed: rgb("31", 203, 240, 110, 110),
  warning: rgb("33", 214, 240, 180, 80),
  error: rgb("91", 203, 250, 105, 105),
  success: rgb("92", 114, 120, 210, 120),
  muted: rgb("90", 245, 140, 140, 150),
  accent: rgb("95", 141, 175, 135, 255),
};

const LIGHT: Readonly<Record<Role, Color>> = {
  heading: rgb("34", 25, 0, 90, 180),
  code: rgb("36", 30, 0, 120, 120),
  link: rgb("34", 26, 0, 100, 210),
  quote: rgb("90", 243, 105, 105, 115),
  rule: rgb("90", 250, 185, 185, 190),
  marker: rgb("33", 130, 150, 95, 0),
  keyword: rgb("35", 90, 140, 20, 160),
  string: rgb("32", 28, 20, 120, 30),
  comment: rgb("90", 243, 110, 115, 125),
  number: rgb("33", 130, 160, 90, 0),
  name: rgb("34", 25, 0, 90, 180),
  type: rgb("36", 30, 0, 115, 125),
  added: rgb("32", 28, 20, 125, 20),
  removed: rgb("31", 160, 185, 20, 20),
  warning: rgb("33", 130, 155, 95, 0),
  error: rgb("31", 160, 190, 20, 20),
  success: rgb("32", 28, 20, 125, 20),
  muted: rgb("90", 243, 105, 105, 115),
  accent: rgb("35", 91, 125, 50, 190),
};

/** Converts styled spans to terminal output. The only place that creates escape sequences. */
export function paint(line: Line, palette: Palette): string {
  if (palette.depth === "none") return line.map(({ text }) => text).join("");
  return line.map(({ text, style }) => styled(text, codes(style, palette))).join("");
}

const styled = (text: string, parameters: string) =>
  parameters === "" ? text : `\x1b[${parameters}m${text}\x1b[0m`;

function codes(style: Style, { depth, background }: Palette): string {
  const found: string[] = [];
  if (style.bold) found.push("1");
  if (style.italic) found.push("3");
  if (style.underline) found.push("4");
  if (style.inverse) found.push("7");
  if (style.strike) found.push("9");
  const color = style.role && (background === "dark" ? DARK : LIGHT)[style.role];
  if (color && depth !== "none") found.push(color[depth]);
  return found.join(";");
}
