import { hash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "@octant/core";
import { toNative } from "../path.ts";
import { shellQuote } from "../shell-quote.ts";
import type { Mount } from "./mount.ts";
import type { SandboxedCommand } from "./sandbox.ts";
import { holderOf } from "./tree.ts";

/** Runs inside the sandbox, filtered like a command, until it becomes the command. */
export const WAITING_COMMAND = ["/bin/sh"] as const;

/** Far below what one process can be given; a longer command is refused by the system at its own start. */
const MAX_ORDER_BYTES = 32 * 1024;

/**
 * The script with which the waiting shell becomes the command. It is one compound command, so a part of it does
 * nothing. Undefined where a shell would not pass everything on as it is.
 */
export function toOrder({ argv, env, folder }: SandboxedCommand): string | undefined {
  const variables = Object.entries(env);
  const isPlain = typeof toNative(folder) === "string" && !argv[0].startsWith("-");
  if (!isPlain || variables.some(([name]) => !VARIABLE.test(name) || OF_SHELLS.test(name))) return undefined;
  const settings = variables.map(([name, value]) => `export ${name}=${shellQuote(value)}`);
  const steps = [`cd ${shellQuote(folder)}`, "unset OLDPWD", ...settings];
  const order = `{ ${steps.join(" && ")} && exec ${argv.map(shellQuote).join(" ")} </dev/null; }\n`;
  return order.includes("\0") || Buffer.byteLength(order) > MAX_ORDER_BYTES ? undefined : order;
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Variables that some shell sets, checks or cannot change. */
const OF_SHELLS =
  /^(?:BASH.*|COMP_.*|DIRSTACK|ENV|EPOCH.*|E?UID|FUNC.*|GROUPS|HIST.*|IFS|IGNOREEOF|LINENO|MAIL.*|OLDPWD|OPT.*|PIPESTATUS|POSIX.*|PPID|PS\d|S?RANDOM|SECONDS|SHELLOPTS|SHLVL|TIMEFORMAT|TMOUT|_)$/;

/** A real entry that mounts are made of. */
export interface Entry {
  readonly path: string;
  /** It is covered, so it must not have been moved either. A folder that is shown may change. */
  readonly isCovered: boolean;
}

/**
 * Stands for what a sandbox shows: its launcher's arguments, which name the mounts, the entries that they are made of,
 * and the mounts of the machine. The system removes a mount when its mount point is replaced outside, and a new mount
 * of the machine can appear inside, writable.
 */
export function toPreparedKey(argv: readonly string[], entries: readonly Entry[]): string {
  const machine = attempt(() => readFileSync("/proc/self/mountinfo", "utf8")) ?? "";
  return hash("sha256", JSON.stringify([argv, entries.map(identify), machine]));
}

/** An inode number alone may be reused; a folder's birth, where it is known, does not change with its entries. */
function identify({ path, isCovered }: Entry): string {
  const found = attempt(() => statSync(toNative(path), { throwIfNoEntry: false }));
  if (!found) return "-";
  const mayChange = !isCovered && found.isDirectory() && found.birthtimeMs > 0;
  return `${found.dev}:${found.ino}:${mayChange ? found.birthtimeMs : found.ctimeMs}`;
}

/** The sources of mounts, and the entries that they cover. */
export const entriesOf = (mounts: readonly Mount[]): readonly Entry[] =>
  mounts.flatMap((mount, n): Entry[] => {
    const holder = holderOf(mounts.slice(0, n), mount.at);
    const shown = "source" in mount ? [{ path: mount.source, isCovered: false }] : [];
    if (!holder || !("source" in holder)) return shown;
    const path = join(holder.source, mount.at.slice(holder.at.length));
    return [...shown, { path, isCovered: mount.kind === "read" }];
  });
