import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { toIoError } from "./io-error.ts";

/** Writes a runner's reporter and similar files where the runner can load them. */
export function writeSupport(folder: string, files: Readonly<Record<string, string>>): void {
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  } catch (cause) {
    throw toIoError("the temporary folder", cause);
  }
}
