import { closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { isWithin, type Path, toNative } from "../../path.ts";
import { type FileState, isSame, isSettled, stateOf } from "./file-state.ts";
import type { Needs } from "./needs.ts";
import { mayMatch, type Signature, signFile, UNKNOWN } from "./signature.ts";

/** The files in which a pattern must be searched. */
export interface Candidates {
  readonly files: readonly Path[];
  /** Files that ripgrep treats differently when they are named: it has to find them in their folders. */
  readonly unnamed: readonly Path[];
}

export interface FileQuery {
  readonly needs: Needs;
  /** Only below this folder. */
  readonly scope: Path;
  /** Above this many files nothing is gained. */
  readonly limit: number;
}

interface Entry {
  readonly path: Path;
  readonly native: string | Buffer;
  /** Undefined while the file may change without a trace. */
  state?: FileState | undefined;
  signature: Signature;
}

const FILES_PER_TURN = 64;

/** Signatures of files, checked against the disk at every query. */
export function createFileTable() {
  let entries: Entry[] = [];
  return {
    /** Exactly these files from now on; those that are new or changed are read. */
    async set(paths: readonly Path[]): Promise<void> {
      const known = new Map(entries.map((entry) => [entry.path, entry]));
      const next: Entry[] = [];
      for (const [at, path] of paths.entries()) {
        if (at % FILES_PER_TURN === 0) await nextTurn();
        const entry = known.get(path) ?? { path, native: toNative(path), signature: UNKNOWN };
        if (!isUnchanged(entry)) readEntry(entry);
        next.push(entry);
      }
      entries = next;
    },
    find({ needs, scope, limit }: FileQuery): Candidates | "too many" {
      const inside = entries.filter(({ path }) => isWithin(scope, path));
      const matched = new Set(inside.filter(({ signature }) => mayMatch(signature, needs)));
      if (matched.size > limit) return "too many";
      for (const entry of inside) {
        if (isUnchanged(entry)) continue;
        readEntry(entry);
        if (mayMatch(entry.signature, needs)) matched.add(entry);
        else matched.delete(entry);
      }
      const found = [...matched];
      const canBeNamed = ({ path, signature }: Entry) => !signature.hasNul && path.isWellFormed();
      return {
        files: found.filter(canBeNamed).map(({ path }) => path),
        unnamed: found.filter((entry) => !canBeNamed(entry)).map(({ path }) => path),
      };
    },
  };
}

function isUnchanged({ native, state }: Entry): boolean {
  const stat = lstatSync(native, QUIETLY);
  return stat !== undefined && state !== undefined && isSame(stat, state);
}

const QUIETLY = { throwIfNoEntry: false } as const;
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** Files that are unreadable, or change meanwhile, are left to ripgrep. */
function readEntry(entry: Entry): void {
  entry.state = undefined;
  entry.signature = UNKNOWN;
  let fd: number | undefined;
  try {
    const now = Date.now();
    fd = openSync(entry.native, READ);
    const before = fstatSync(fd);
    if (!before.isFile()) return;
    const signature = signFile(fd, before.size);
    if (!isSame(before, fstatSync(fd))) return;
    entry.signature = signature;
    if (isSettled(before, now)) entry.state = stateOf(before);
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause)) throw cause;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
