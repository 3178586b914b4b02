import { globSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { attempt, ToolError } from "@octant/core";
import type { Path } from "../path.ts";
import { findTrusted } from "../programs/trusted-program.ts";

/** The browser from `ui.browser` in the settings, or found without it. */
export type FoundBrowser =
  | { readonly kind: "program"; readonly path: string; readonly needsHost: boolean }
  /** A running browser with a debugging endpoint. */
  | { readonly kind: "endpoint"; readonly url: string };

export interface LookOptions {
  /** A program, a channel such as `chrome`, or the URL of an endpoint. */
  readonly wanted?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly roots: readonly Path[];
}

/** By channel: names on the PATH, and the locations of programs that are not on it. */
const CHANNELS: Readonly<Record<string, readonly string[]>> = {
  chromium: ["chromium", "chromium-browser", "/Applications/Chromium.app/Contents/MacOS/Chromium"],
  chrome: [
    ...["google-chrome-stable", "google-chrome", "chrome", "/opt/google/chrome/google-chrome"],
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  ],
  msedge: [
    ...["microsoft-edge-stable", "microsoft-edge", "/opt/microsoft/msedge/microsoft-edge"],
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
  ],
};

/** Downloaded by `npx playwright install chromium`. */
const DOWNLOADED = [
  ".cache/ms-playwright/chromium-*/chrome-linux*/chrome",
  "Library/Caches/ms-playwright/chromium-*/chrome-mac*/Chromium.app/Contents/MacOS/Chromium",
];

/** UNSUPPORTED, with what to install, when there is none. */
export function findBrowser({ wanted, env, roots }: LookOptions): FoundBrowser {
  if (wanted !== undefined && /^(https?|wss?):\/\//.test(wanted)) return { kind: "endpoint", url: wanted };
  const isPath = wanted?.includes("/");
  if (wanted !== undefined && isPath) return toProgram(wanted) ?? throwMissing(`${wanted} of the settings`);
  const channels = wanted === undefined ? Object.keys(CHANNELS) : [wanted];
  for (const channel of channels) {
    for (const name of CHANNELS[channel] ?? []) {
      const path = name.startsWith("/") ? name : findTrusted(name, roots);
      const found = path === undefined ? undefined : toProgram(path);
      if (found) return found;
    }
  }
  const home = env["HOME"] || homedir();
  const downloaded = globSync(DOWNLOADED.map((pattern) => join(home, pattern))).sort();
  const newest = wanted === undefined ? downloaded.at(-1) : undefined;
  return (
    (newest === undefined ? undefined : toProgram(newest)) ??
    throwMissing(wanted ?? "Chromium, Chrome or Edge")
  );
}

/** A snap is started by a helper that needs the unsandboxed machine. */
const toProgram = (path: string): FoundBrowser | undefined =>
  attempt(() => ({ kind: "program", path, needsHost: basename(realpathSync(path)) === "snap" }));

function throwMissing(what: string): never {
  const how =
    process.platform === "linux"
      ? "install one (apt-get install chromium, or npx playwright install chromium), or name one as ui.browser in the settings"
      : "install Chrome, or name a browser as ui.browser in the settings";
  throw new ToolError("UNSUPPORTED", `no browser found: ${what} is missing; ${how}`, {
    what: "a browser",
    how,
  });
}
