import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isAlive, thisProcess } from "../jobs/process-identity.ts";
import { isWithin, type Path } from "../path.ts";
import type { FoundLevel } from "./find-level.ts";
import type { Level } from "./level.ts";
import { type Mount, read } from "./mount.ts";
import { createReader, type Exchange, READER_ARGV, type ResidentReader } from "./reader.ts";
import type { Reader } from "./sandbox.ts";
import type { Scratch } from "./scratch.ts";

/** The reader of a workspace: started when it is needed, and another one when it has died or another tree is needed. */
export interface Readers {
  open(working: NonNullable<FoundLevel["working"]>, besides: readonly Path[]): Reader | undefined;
  close(): Promise<void>;
}

const INSIDE = "/run/octant";

export function createReaders(roots: readonly Path[], scratch: Scratch): Readers {
  const exchange: Exchange = { outside: makeExchange(scratch.folder("readers")), inside: INSIDE };
  /** Where settings allow only some places to commands, the roots are not among them. */
  const needed = new Set(roots);
  const started = new Set<ResidentReader>();
  let current: { readonly mounts: readonly Mount[]; readonly reader: ResidentReader } | undefined;

  const start = (level: Level, mounts: readonly Mount[]): ResidentReader | undefined => {
    const shell = { argv: READER_ARGV, folder: "/", env: {}, pty: false } as const;
    const launched = level.launch(shell, { mounts, ownNetwork: true });
    if (!launched.launcher) return undefined;
    const reader = createReader(launched, exchange);
    started.add(reader);
    void reader.gone.then(() => started.delete(reader));
    return reader;
  };

  return {
    open({ level, plans }, besides) {
      for (const path of besides) if (![...needed].some((place) => isWithin(place, path))) needed.add(path);
      const extra = [read(exchange.outside, exchange.inside)];
      const mounts = plans.get({
        changesProtected: true,
        protectedMounts: [],
        extra,
        besides: [...needed],
        readOnly: true,
      });
      if (current?.reader.isOpen() && isSameTree(current.mounts, mounts)) return current.reader;
      current?.reader.retire();
      const reader = start(level, mounts);
      current = reader && { mounts, reader };
      return reader;
    },
    async close() {
      await Promise.all([...started].map((reader) => reader.close()));
      rmSync(exchange.outside, { recursive: true, force: true });
    },
  };
}

/** A rebuilt plan is a new list, often with equal content. */
const isSameTree = (a: readonly Mount[], b: readonly Mount[]): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);

/** Creates this server's folder and removes those of killed servers. */
function makeExchange(folder: string): string {
  for (const name of readdirSync(folder))
    if (!isAlive(name)) rmSync(join(folder, name), { recursive: true, force: true });
  const path = join(folder, `${thisProcess()}:${randomBytes(8).toString("hex")}`);
  mkdirSync(path, { mode: 0o700 });
  return path;
}
