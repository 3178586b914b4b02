import type { Background, ColorDepth, Palette } from "./paint.ts";

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
