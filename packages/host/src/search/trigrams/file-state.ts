import type { Stats } from "node:fs";

/** An unchanged file or folder has the same four numbers. */
export interface FileState {
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/** Longer than a tick of the clock that stamps files. */
const TICK_MS = 100;
/** For time stamps in whole seconds, as on some file systems. */
const COARSE_TICK_MS = 2_100;

export const isSame = (a: FileState, b: FileState): boolean =>
  a.ino === b.ino && a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs;

/**
 * Whether a change after `now`, when the state was taken, must show in it. A file written just before may be written
 * again within the same clock tick and keep its stamps.
 */
export function isSettled({ mtimeMs, ctimeMs }: FileState, now: number): boolean {
  const tick = mtimeMs % 1_000 === 0 || ctimeMs % 1_000 === 0 ? COARSE_TICK_MS : TICK_MS;
  return Math.max(mtimeMs, ctimeMs) < now - tick;
}

export const stateOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): FileState => ({
  ino,
  size,
  mtimeMs,
  ctimeMs,
});
