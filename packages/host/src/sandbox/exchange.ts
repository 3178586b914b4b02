import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attempt } from "@octant/core";
import type { Mount } from "./mount.ts";
import type { Scratch } from "./scratch.ts";

/**
 * A folder that Octant and one command share, for files that the command reads or writes for us. Only the command it is
 * passed to can see it, so no other command can swap its entries while Octant works on them.
 */
export interface Exchange extends Disposable {
  /** Where Octant finds it. */
  readonly path: string;
  /** Where the command finds it. */
  readonly inside: string;
}

export const EXCHANGE = "/run/octant/exchange";

/** The mount point; the folder itself differs from command to command and is bound by the level. */
export const exchangeMounts: readonly Mount[] = [{ kind: "folder", at: EXCHANGE }];

/** For commands that see a tree of their own. */
export function openBoundExchange(scratch: Scratch): Exchange {
  const parent = scratch.folder("exchange");
  removeStale(parent);
  const path = join(parent, randomBytes(16).toString("hex"));
  mkdirSync(path, { mode: 0o700 });
  return { path, inside: EXCHANGE, [Symbol.dispose]: () => remove(path) };
}

/** For commands with an unrestricted view of the machine. */
export function openPlainExchange(): Exchange {
  const path = mkdtempSync(join(tmpdir(), "octant-exchange-"));
  return { path, inside: path, [Symbol.dispose]: () => remove(path) };
}

/** Longer than any test run may take. */
const STALE_MS = 2 * 24 * 60 * 60 * 1000;

/** A server that was killed leaves its folders behind. */
function removeStale(parent: string): void {
  const oldest = Date.now() - STALE_MS;
  for (const name of readdirSync(parent)) {
    const path = join(parent, name);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found && found.mtimeMs < oldest) remove(path);
  }
}

/** Fails while a process that is still ending writes there, or an entry cannot be removed; `removeStale` tries again. */
const remove = (path: string): void => attempt(() => rmSync(path, { recursive: true, force: true }));
