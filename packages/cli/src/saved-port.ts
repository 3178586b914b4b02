import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The port that a workspace is served on, so that what was pasted into clients works after a restart. */
export interface KeptPort {
  /** Undefined before the first serving. */
  load(): number | undefined;
  keep(port: number): void;
}

export function openKeptPort(folder: string): KeptPort {
  const file = join(folder, "port");
  return {
    load() {
      try {
        const port = Number(readFileSync(file, "utf8"));
        return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
      } catch {
        return undefined;
      }
    },
    keep: (port) => writeFileSync(file, String(port), { mode: 0o600 }),
  };
}
