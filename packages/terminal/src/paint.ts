import { toOneLine } from "@octant/core";
import type { Line, Style } from "./styled.ts";

export type ColorDepth = "none" | "16" | "256" | "truecolor";
export type Background = "dark" | "light";
export type Palette = { depth: ColorDepth; background: Background };

/** A colour for each depth, as SGR parameters. */
const rgb = (basic: string, indexed: number, red: number, green: number, blue: number) => ({
  none: "",
  "16": basic,
  "256": `38;5;${indexed}`,
  truecolor: `38;2;${red};${green};${blue}`,
});

const COLORS = {
  heading: { dark: rgb("96", 117, 122, 200, 255), light: rgb("34", 25, 0, 90, 180) },
  code: { dark: rgb("36", 116, 143, 211, 203), light: rgb("36", 30, 0, 120, 120) },
  link: { dark: rgb("94", 75, 97, 175, 239), light: rgb("34", 26, 0, 100, 210) },
  quote: { dark: rgb("90", 245, 140, 140, 150), light: rgb("90", 243, 105, 105, 115) },
  rule: { dark: rgb("90", 240, 95, 95, 105), light: rgb("90", 250, 185, 185, 190) },
  marker: { dark: rgb("33", 180, 215, 175, 120), light: rgb("33", 130, 150, 95, 0) },
  keyword: { dark: rgb("35", 176, 198, 120, 221), light: rgb("35", 90, 140, 20, 160) },
  string: { dark: rgb("32", 114, 152, 195, 121), light: rgb("32", 28, 20, 120, 30) },
  comment: { dark: rgb("90", 244, 128, 134, 144), light: rgb("90", 243, 110, 115, 125) },
  number: { dark: rgb("33", 173, 209, 154, 102), light: rgb("33", 130, 160, 90, 0) },
  name: { dark: rgb("94", 75, 97, 175, 239), light: rgb("34", 25, 0, 90, 180) },
  type: { dark: rgb("36", 80, 86, 182, 194), light: rgb("36", 30, 0, 115, 125) },
  added: { dark: rgb("32", 114, 120, 200, 120), light: rgb("32", 28, 20, 125, 20) },
  removed: { dark: rgb("31", 203, 240, 110, 110), light: rgb("31", 160, 185, 20, 20) },
  warning: { dark: rgb("33", 214, 240, 180, 80), light: rgb("33", 130, 155, 95, 0) },
  error: { dark: rgb("91", 203, 250, 105, 105), light: rgb("31", 160, 190, 20, 20) },
  success: { dark: rgb("92", 114, 120, 210, 120), light: rgb("32", 28, 20, 125, 20) },
  muted: { dark: rgb("90", 245, 140, 140, 150), light: rgb("90", 243, 105, 105, 115) },
  accent: { dark: rgb("95", 141, 175, 135, 255), light: rgb("35", 91, 125, 50, 190) },
};

/** The meaning of a piece of text. */
export type Role = keyof typeof COLORS;

/**
 * Converts styled spans to terminal output. The only place that creates escape sequences, and the only way for text to
 * the screen: whatever a terminal would obey in it is shown instead.
 */
export function paint(line: Line, palette: Palette): string {
  if (palette.depth === "none") return line.map(({ text }) => toOneLine(text)).join("");
  return line.map(({ text, style }) => styled(toOneLine(text), codes(style, palette))).join("");
}

const styled = (text: string, parameters: string) =>
  parameters === "" ? text : `\x1b[${parameters}m${text}\x1b[0m`;

const SGR = [
  ["bold", "1"],
  ["italic", "3"],
  ["underline", "4"],
  ["inverse", "7"],
  ["strike", "9"],
] as const;

function codes(style: Style, { depth, background }: Palette): string {
  const found: string[] = SGR.filter(([name]) => style[name]).map(([, code]) => code);
  if (style.role) found.push(COLORS[style.role][background][depth]);
  return found.join(";");
}

/** The terminal's colours according to the environment. */
export const paletteOf = (env: NodeJS.ProcessEnv): Palette => ({
  depth: depthOf(env),
  background: backgroundOf(env),
});

/**
 * Whether to query the terminal: not when colours are off, when the person has chosen, or when the query would show.
 */
export const asksForBackground = (env: NodeJS.ProcessEnv): boolean =>
  depthOf(env) !== "none" && !isTheme(env["OCTANT_THEME"]) && env["TERM"] !== "linux";

const isTheme = (name: string | undefined): name is Background => name === "light" || name === "dark";

function depthOf(env: NodeJS.ProcessEnv): ColorDepth {
  const term = env["TERM"] ?? "";
  if (env["NO_COLOR"] || term === "dumb") return "none";
  if (/truecolor|24bit/i.test(env["COLORTERM"] ?? "") || env["WT_SESSION"]) return "truecolor";
  return /256color|kitty|alacritty|ghostty|wezterm/i.test(term) ? "256" : "16";
}

/** COLORFGBG ends with the number of the background colour; 7 and above 8 are light. */
function backgroundOf(env: NodeJS.ProcessEnv): Background {
  const theme = env["OCTANT_THEME"];
  if (isTheme(theme)) return theme;
  const background = Number(env["COLORFGBG"]?.split(";").at(-1));
  return background === 7 || background > 8 ? "light" : "dark";
}
