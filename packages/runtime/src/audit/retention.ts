import { renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "@octant/host";
import { loadDropped, writeDropped } from "./chain-files.ts";
import { type HeadFile, headName, isAbandoned, listAuditFiles, recordsName, unlessGone } from "./names.ts";
import type { DroppedEntry } from "./record.ts";
import { claimChain } from "./resume.ts";
import type { AuditKey } from "./seal.ts";

export interface RetentionOptions {
  readonly folder: string;
  readonly key: AuditKey;
  readonly keepBytes: number;
  /** The chain that we write. */
  readonly own: HeadFile;
  /** Records what will be removed, before removing it. */
  record(entry: DroppedEntry): void;
  /** Receives the files that cannot be removed. */
  warn(message: string): void;
}

/**
 * Removes the oldest chains that nobody writes until the log is within its limit, and what a killed process left of
 * removed ones. A tampered chain stays.
 */
export function dropOldChains(options: RetentionOptions): void {
  for (const file of findSurplus(options)) dropChain(file, options);
}

/** Oldest first. */
function findSurplus({ folder, keepBytes, own }: RetentionOptions): HeadFile[] {
  const { heads, dropped } = listAuditFiles(folder);
  const all = heads
    .map((file) => {
      const path = join(folder, recordsName(file.chain));
      const { size = 0, mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
      return { file, size, mtimeMs };
    })
    .sort((a, b) => a.mtimeMs - b.mtimeMs);
  let tooMany = all.reduce((sum, { size }) => sum + size, 0) - keepBytes;
  return all.flatMap(({ file, size }) => {
    if (file.chain === own.chain || (tooMany <= 0 && !dropped.includes(file.chain))) return [];
    tooMany -= size;
    return [file];
  });
}

function dropChain(file: HeadFile, options: RetentionOptions): void {
  const { folder, key, own, record } = options;
  const { chain } = file;
  const remove = (head: string) => {
    rmSync(join(folder, recordsName(chain)), { force: true });
    rmSync(head, { force: true });
  };
  const theirs = join(folder, headName(file));
  const known = loadDropped(folder, key, chain);
  if (known !== "kept") {
    if (known && isAbandoned(file.owner)) unlessRefused(options, () => remove(theirs));
    return;
  }
  const claimed = unlessRefused(options, () => claimChain(folder, key, file, own.owner));
  if (!claimed) return;
  const ours = join(folder, headName({ chain, owner: own.owner }));
  const { seq } = claimed;
  try {
    record({ kind: "dropped", time: new Date().toISOString(), dropped_chain: chain, records: seq });
    unlessRefused(options, () => {
      writeDropped(folder, key, { chain, seq });
      remove(ours);
    });
  } finally {
    // What could not be removed is left as it was.
    unlessGone(() => renameSync(ours, theirs));
  }
}

/** A failed removal must not prevent new records. */
function unlessRefused<T>({ warn }: RetentionOptions, work: () => T): T | undefined {
  try {
    return work();
  } catch (cause) {
    const errno = errnoOf(cause);
    if (errno === undefined) throw cause;
    warn(`old parts of the audit log cannot be removed (${errno}), so it exceeds its size limit`);
    return undefined;
  }
}
