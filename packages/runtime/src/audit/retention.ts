import { renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "@octant/host";
import { type Anchor, loadAnchor, loadHead, writeAnchor } from "./chain-files.ts";
import { readLines } from "./lines.ts";
import { FREE, type HeadFile, headName, listAuditFiles, partName, unlessGone } from "./names.ts";
import type { AuditRecord, DroppedEntry } from "./record.ts";
import { type AuditKey, unseal } from "./seal.ts";

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
 * Removes the oldest parts of our own and of abandoned chains until the log is within its limit. The current part of a
 * chain stays, and so does everything from the first tampered record on.
 */
export function dropOldParts(options: RetentionOptions): void {
  for (const [chain, last] of findSurplus(options)) {
    if (chain === options.own.chain) dropUntil(chain, last, options);
    else whileOurs(chain, options, () => dropUntil(chain, last, options));
  }
}

/** Chains, each with the last of its parts that is one too many. */
function findSurplus({ folder, keepBytes, own }: RetentionOptions): ReadonlyMap<string, number> {
  const { parts, heads } = listAuditFiles(folder);
  const isFree = new Set([
    own.chain,
    ...heads.filter(({ owner }) => owner === FREE).map(({ chain }) => chain),
  ]);
  const all = [...parts].flatMap(([chain, numbers]) =>
    numbers.map((part) => {
      const { size = 0, mtimeMs = 0 } =
        statSync(join(folder, partName(chain, part)), { throwIfNoEntry: false }) ?? {};
      return { chain, part, size, mtimeMs, mayGo: isFree.has(chain) && part !== numbers.at(-1) };
    }),
  );
  let tooMany = all.reduce((sum, { size }) => sum + size, 0) - keepBytes;
  const surplus = new Map<string, number>();
  for (const { chain, part, size } of all
    .filter(({ mayGo }) => mayGo)
    .sort((a, b) => a.mtimeMs - b.mtimeMs)) {
    if (tooMany <= 0) break;
    tooMany -= size;
    surplus.set(chain, Math.max(part, surplus.get(chain) ?? 0));
  }
  return surplus;
}

/** Runs while no other process writes or prunes the chain. */
function whileOurs(chain: string, { folder, own }: RetentionOptions, work: () => void): void {
  const free = join(folder, headName({ chain, owner: FREE }));
  const ours = join(folder, headName({ chain, owner: own.owner }));
  if (unlessGone(() => renameSync(free, ours) ?? true) === undefined) return;
  try {
    work();
  } finally {
    renameSync(ours, free);
  }
}

/** The chain's head has our name. */
function dropUntil(chain: string, surplus: number, options: RetentionOptions): void {
  const { folder, key, own, record } = options;
  const plan = unlessRefused(options, () => {
    const head = loadHead(folder, { chain, owner: own.owner }, key);
    const before = loadAnchor(folder, key, chain);
    if (!head || !before) return undefined;
    // A resuming writer searches for the end from the head's position.
    const last = Math.min(surplus, head.part - 1);
    const after = findAnchor(folder, key, before, last);
    return after && { before, last, after };
  });
  if (!plan) return;
  const { before, last, after } = plan;
  const time = new Date().toISOString();
  record({ kind: "dropped", time, chain, parts: [before.part, last], records: after.seq - before.seq });
  unlessRefused(options, () => {
    writeAnchor(folder, key, after);
    for (const part of listAuditFiles(folder).parts.get(chain) ?? [])
      if (part <= last) rmSync(join(folder, partName(chain, part)));
  });
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

/** Where the chain would begin without the parts up to `last`; undefined when it is not as we left it. */
function findAnchor(folder: string, key: AuditKey, before: Anchor, last: number): Anchor | undefined {
  const { chain } = before;
  if (last < before.part) return undefined;
  const kept = (listAuditFiles(folder).parts.get(chain) ?? []).filter((part) => part >= before.part);
  const isWhole = kept.slice(0, last + 2 - before.part).every((part, at) => part === before.part + at);
  if (!isWhole || !kept.includes(last + 1)) return undefined;
  const [line] = readLines(join(folder, partName(chain, last + 1)))?.lines ?? [];
  // Only `seal` produces a line that unseals, and it gets only records.
  const first = line && (unseal(key, line) as AuditRecord | undefined);
  return first && { chain, part: last + 1, seq: first.seq - 1, last: first.prev };
}
