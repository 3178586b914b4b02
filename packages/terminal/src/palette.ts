import type { Background, ColorDepth, Palette } from "./paint.ts";

/** What the environment says about the terminal's colours. */
export const paletteOf = (env: NodeJS.ProcessEnv): Palette => ({
  depth: depthOf(env),
  background: backgroundOf(env),
});

function depthOf(env: NodeJS.ProcessEnv): ColorDepth {
  const term = env["TERM"] ?? "";
  if (env["NO_COLOR"] || term === "dumb") return "none";
  if (/truecolor|24bit/i.test(env["COLORTERM"] ?? "") || env["WT_SESSION"]) return "truecolor";
  return /256color|kitty|alacritty|ghostty|wezterm/i.test(term) ? "256" : "16";
}

/** COLORFGBG ends with the number of the background colour; 7 and above 8 are light. */
function backgroundOf(env: NodeJS.ProcessEnv): Background {
  const theme = env["OCTANT_THEME"];
  if (theme === "light" || theme === "dark") return theme;
  const background = Number(env["COLORFGBG"]?.split(";").at(-1));
  return background === 7 || background > 8 ? "light" : "dark";
}
