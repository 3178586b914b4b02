import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

/** Only root may mount, and in a container not even root. */
export const mayMount = process.getuid?.() === 0 && spawnSync("unshare", ["-m", "true"]).status === 0;
const DISK_BYTES = 2 * 1024 * 1024;

/** A small disk at this folder, during a test. */
export function mountSmallDisk(
  folder: string,
  bytes = DISK_BYTES,
): Disposable & { fill(): void; free(): void } {
  mkdirSync(folder, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes},mode=0700`, "tmpfs", folder]);
  const filler = join(folder, "filler");
  return {
    fill() {
      const file = openSync(filler, "w");
      try {
        for (;;) writeSync(file, Buffer.alloc(4_096, 1));
      } catch {
        closeSync(file);
      }
    },
    free: () => rmSync(filler),
    [Symbol.dispose]: () => execFileSync("umount", ["--lazy", folder]),
  };
}
