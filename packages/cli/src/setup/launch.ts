import { existsSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Scope } from "./clients.ts";
import { type Machine, programsOnPath } from "./places.ts";

/** What a client is told to start; flags of `octant serve` may follow. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

export interface Install {
  /** bin/octant.js of this package. */
  readonly launcher: string;
  /** The Node that runs it. */
  readonly node: string;
}

const PACKAGE = "@octant/cli";

/**
 * A command that still works when the shell, its PATH and the terminal are gone. From npx's cache, which npm empties
 * as it likes, and for a file that others get with the project, it is npx: a path of this machine means nothing there.
 */
export function chooseLaunch(install: Install, scope: Scope, machine: Machine): Launch {
  const isPassing = install.launcher.includes(`${sep}_npx${sep}`);
  if (scope === "user" && !isPassing) return ownLaunch(install, machine);
  const args = ["-y", PACKAGE, "serve"];
  // Windows has a script for npx, and clients start programs only.
  if (machine.platform === "win32") return { command: "cmd", args: ["/c", "npx", ...args] };
  const [npx = "npx"] = scope === "user" ? programsOnPath("npx", machine) : [];
  return { command: npx, args };
}

/** This very install. */
export const ownLaunch = (install: Install, machine: Machine): Launch => ({
  command: lastingNode(install.node, machine),
  args: [install.launcher, "serve"],
});

/** What an entry starts, flags aside: this very install, whatever npx finds by our name, or something else. */
export function whatStarts(start: Launch, install: Install, machine: Machine): "this" | "npx" | "other" {
  const launches = (["user", "project"] as const).map((scope) => chooseLaunch(install, scope, machine));
  const own = launches.find(
    ({ command, args }) =>
      start.command === command && isDeepStrictEqual(start.args.slice(0, args.length), args),
  );
  if (!own) return "other";
  return own.args.includes(install.launcher) ? "this" : "npx";
}

/** The package is two folders above the sources, and one above what is built. */
export function thisInstall(): Install {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const launcher = join(folder, "bin/octant.js");
    if (existsSync(launcher)) return { launcher, node: process.execPath };
  }
  throw new Error("bin/octant.js of this package is missing");
}

/** A link such as /opt/homebrew/bin/node outlives the version that it points to. */
function lastingNode(node: string, machine: Machine): string {
  const lasting = programsOnPath("node", machine).find(
    (path) => !isOfOneShell(path, machine) && isSameFile(path, node),
  );
  return lasting ?? node;
}

/** fnm gives each shell a folder of its own; npm one to each script. */
function isOfOneShell(path: string, { env }: Machine): boolean {
  const ofSession = env["XDG_RUNTIME_DIR"];
  return /fnm_multishells|node_modules/.test(path) || (!!ofSession && path.startsWith(ofSession + sep));
}

function isSameFile(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false;
  }
}
