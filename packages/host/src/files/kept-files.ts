import type { Confinement, Pinned } from "../confinement.ts";
import type { Path } from "../path.ts";

/**
 * Small files that are read again stay open for a while: to see that one is still the right one takes half as long as
 * to open it.
 */
export interface KeptFiles {
  /** As `Confinement.openFile`, but others may read from it too: say the position with every read. */
  open(path: Path): Pinned;
}

const MAX_KEPT = 64;
const MAX_SEEN = 256;
/** A file that was removed takes its space on the disk until it is closed. */
const MAX_KEPT_BYTES = 64 * 1024;
/** What was not read for so long is closed, or else nobody could unmount the disk that it is on. */
const IDLE_MS = 5_000;

interface Kept {
  readonly file: Pinned;
  readers: number;
  isIdle: boolean;
  /** To be closed by its last reader. */
  isDropped: boolean;
}

export function createKeptFiles({ openFile, recheck }: Confinement): KeptFiles {
  if (!recheck) return { open: openFile };
  const kept = new Map<Path, Kept>();
  // Most files are read once, and keeping those would only cost.
  const seen = new Set<Path>();
  let sweeper: NodeJS.Timeout | undefined;

  const drop = (path: Path, one: Kept) => {
    kept.delete(path);
    one.isDropped = true;
    closeUnused(one);
  };
  const sweep = () => {
    for (const [path, one] of kept) {
      if (one.isIdle) drop(path, one);
      one.isIdle = true;
    }
    if (kept.size > 0) return;
    clearInterval(sweeper);
    sweeper = undefined;
  };
  const isFirstTime = (path: Path): boolean => {
    if (seen.has(path)) return false;
    if (seen.size === MAX_SEEN) seen.clear();
    seen.add(path);
    return true;
  };
  const keep = (path: Path, file: Pinned): Kept => {
    const [oldest] = kept;
    if (oldest && kept.size === MAX_KEPT) drop(...oldest);
    const one: Kept = { file, readers: 0, isIdle: false, isDropped: false };
    kept.set(path, one);
    sweeper ??= setInterval(sweep, IDLE_MS).unref();
    return one;
  };

  return {
    open(path) {
      const known = kept.get(path);
      const stat = known && recheck(path, known.file);
      if (known && stat) return lend(known, stat);
      if (known) drop(path, known);
      const file = openFile(path);
      if (file.stat.size > MAX_KEPT_BYTES || isFirstTime(path)) return file;
      return lend(keep(path, file), file.stat);
    },
  };
}

function lend(one: Kept, stat: Pinned["stat"]): Pinned {
  one.readers++;
  one.isIdle = false;
  const giveBack = () => {
    one.readers--;
    closeUnused(one);
  };
  return { fd: one.file.fd, path: one.file.path, stat, [Symbol.dispose]: giveBack };
}

function closeUnused({ file, readers, isDropped }: Kept): void {
  if (isDropped && readers === 0) file[Symbol.dispose]();
}
