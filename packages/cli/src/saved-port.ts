import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Remembers the port of a workspace, so that URLs pasted into clients work after a restart. */
export interface SavedPort {
  /** undefined before the first serving. */
  load(): number | undefined;
  keep(port: number): void;
}

export function openSavedPort(folder: string): SavedPort {
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
