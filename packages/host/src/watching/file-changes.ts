import { ToolError } from "@octant/core";
import type { Confinement } from "../confinement.ts";
import { findPlace } from "../edits/new-place.ts";
import type { Path } from "../path.ts";
import { hasCode } from "../system-error.ts";
import type { ChangeListener, Watcher } from "./watcher.ts";

export interface FileChangesOptions {
  readonly confinement: Confinement;
  readonly watcher: Watcher;
  /** How often files without system events are polled. */
  readonly lookEveryMs?: number;
}

interface Watched {
  readonly path: Path;
  /** The path, and its real target. */
  readonly places: readonly Path[];
  readonly listener: () => void;
  state: string;
}

const POLL_MS = 2_000;

export type FileChanges = ReturnType<typeof createFileChanges>;

/** Reports changes of single files. Nothing is watched without subscriptions. */
export function createFileChanges(options: FileChangesOptions) {
  const { confinement, watcher, lookEveryMs = POLL_MS } = options;
  const watched = new Set<Watched>();
  /** Files without system events. */
  const unwatched = new Set<Watched>();
  let stopWatching: (() => void) | undefined;
  let looking: NodeJS.Timeout | undefined;

  const look = (one: Watched): boolean => {
    const state = stateOf(one.path, confinement);
    const isChanged = state !== one.state;
    one.state = state;
    return isChanged;
  };
  const receive: ChangeListener = (paths) => {
    const changed = paths && new Set(paths);
    for (const one of watched) {
      // A reported file has changed, even where the clock is too coarse to show it.
      const isNamed = changed !== null && one.places.some((place) => changed.has(place));
      const mayHave = changed === null || one.places.some((place) => isBelow(place, changed));
      if ((isNamed || mayHave) && (look(one) || isNamed)) one.listener();
    }
  };
  const isUnwatched = ({ places }: Watched) =>
    watcher.status().kind === "polling" || !places.every(watcher.covers);
  const checkUnwatched = () => {
    for (const one of unwatched) if (look(one)) one.listener();
  };
  const leave = (one: Watched) => {
    watched.delete(one);
    unwatched.delete(one);
    if (unwatched.size === 0) {
      clearInterval(looking);
      looking = undefined;
    }
    if (watched.size === 0) {
      stopWatching?.();
      stopWatching = undefined;
    }
  };

  return {
    /**
     * Calls back when the file is written, created, moved or removed by anyone; resolves when that is ensured. The file
     * need not exist yet, as long as it would be inside.
     */
    async subscribe(path: Path, listener: () => void): Promise<() => void> {
      const one: Watched = { path, places: placesOf(path, confinement), listener, state: "" };
      watched.add(one);
      stopWatching ??= watcher.onChange(receive);
      await watcher.ready();
      one.state = stateOf(path, confinement);
      if (isUnwatched(one)) {
        unwatched.add(one);
        looking ??= setInterval(checkUnwatched, lookEveryMs).unref();
      }
      return () => leave(one);
    },
  };
}

/** The state by which a change is detected without events. Links are followed as long as they stay inside. */
function stateOf(path: Path, { openFile }: Confinement): string {
  try {
    using file = openFile(path);
    const { dev, ino, size, mtimeMs, ctimeMs } = file.stat;
    return [dev, ino, size, mtimeMs, ctimeMs].join(" ");
  } catch (cause) {
    if (cause instanceof ToolError) return cause.code;
    throw cause;
  }
}

/** Throws when it is outside, even for a file that does not exist. */
function placesOf(path: Path, confinement: Confinement): readonly Path[] {
  try {
    using file = confinement.openFile(path);
    return [...new Set([path, file.path])];
  } catch (cause) {
    if (!hasCode(cause, "NOT_FOUND")) throw cause;
  }
  return [...new Set([path, findPlace(confinement, path).path])];
}

/** Whether a folder above the path is among these. */
function isBelow(path: Path, folders: ReadonlySet<Path>): boolean {
  for (let cut = path.lastIndexOf("/"); cut > 0; cut = path.lastIndexOf("/", cut - 1))
    if (folders.has(path.slice(0, cut))) return true;
  return false;
}
