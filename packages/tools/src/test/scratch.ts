import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toIoError } from "./io-error.ts";

/** A temporary folder with these files, for one run; it goes when it is disposed of. */
export function createScratch(
  files: Readonly<Record<string, string>>,
): Disposable & { readonly path: string } {
  try {
    const path = mkdtempSync(join(tmpdir(), "octant-test-"));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
    return { path, [Symbol.dispose]: () => remove(path) };
  } catch (cause) {
    throw toIoError("the temporary folder", cause);
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // The tests made something there that cannot be removed, or still write; that says nothing about their results.
  }
}
