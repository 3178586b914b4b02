import { realpathSync } from "node:fs";
import { sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { attempt } from "@octant/core";
import type { Scope } from "./clients.ts";
import { type Machine, programsOnPath } from "./places.ts";

/** The command for a client's entry; flags of `octant serve` may follow. */
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
 * Chooses a command that still works without this shell, its PATH and its terminal. It is npx when we run
 * from npx's cache, which npm may empty, and for a shared project file, where a path on this machine is
 * meaningless.
 */
export function chooseLaunch(install: Install, scope: Scope, machine: Machine): Launch {
  const isPassing = install.launcher.includes(`${sep}_npx${sep}`);
  if (scope === "user" && !isPassing) return ownLaunch(install, machine);
  const args = ["-y", PACKAGE, "serve"];
  // On Windows npx is a script, and clients start only programs.
  if (machine.platform === "win32") return { command: "cmd", args: ["/c", "npx", ...args] };
  const [npx = "npx"] = scope === "user" ? programsOnPath("npx", machine) : [];
  return { command: npx, args };
}

/**
 * The command that a person types: its name if it is on their PATH, otherwise npx with our package, which npx finds in
 * a checkout and an install too. `octant` alone is another package in the registry.
 */
export function typedCommand(machine: Machine): string {
  const isOnPath = programsOnPath("octant", machine).some(
    (path) => !path.includes(`${sep}node_modules${sep}`),
  );
  return isOnPath ? "octant" : `npx -y ${PACKAGE}`;
}

/** The command of this install. */
export const ownLaunch = (install: Install, machine: Machine): Launch => ({
  command: lastingNode(install.node, machine),
  args: [install.launcher, "serve"],
});

/**
 * The program that an entry starts, ignoring flags: this install, the package that npx finds by our name, or something
 * else.
 */
export function whatStarts(start: Launch, install: Install, machine: Machine): "this" | "npx" | "other" {
  const launches = (["user", "project"] as const).map((scope) => chooseLaunch(install, scope, machine));
  const own = launches.find(
    ({ command, args }) =>
      start.command === command && isDeepStrictEqual(start.args.slice(0, args.length), args),
  );
  if (!own) return "other";
  return own.args.includes(install.launcher) ? "this" : "npx";
}

/** A link such as /opt/homebrew/bin/node survives updates of its target. */
function lastingNode(node: string, machine: Machine): string {
  const lasting = programsOnPath("node", machine).find(
    (path) => !isOfOneShell(path, machine) && isSameFile(path, node),
  );
  return lasting ?? node;
}

/** fnm creates a folder per shell, npm one per script. */
function isOfOneShell(path: string, { env }: Machine): boolean {
  const ofSession = env["XDG_RUNTIME_DIR"];
  return /fnm_multishells|node_modules/.test(path) || (!!ofSession && path.startsWith(ofSession + sep));
}

const isSameFile = (a: string, b: string): boolean =>
  attempt(() => realpathSync(a) === realpathSync(b)) ?? false;
