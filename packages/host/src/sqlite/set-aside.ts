import { renameSync, rmSync } from "node:fs";

/** Moves a damaged database aside, so that a new one can be created; returns its new path. */
export function setAside(file: string): string {
  const aside = `${file}.damaged-${Date.now()}`;
  renameSync(file, aside);
  for (const side of ["-wal", "-shm"]) rmSync(`${file}${side}`, { force: true });
  return aside;
}
