import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import type { ContainerEngine } from "../src/engines/engine.ts";

/** Busybox and what git and Node need, without a registry. */
export async function importTestImage(engine: ContainerEngine, image: string): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "octant-image-"));
  try {
    for (const name of ["bin", "usr/bin", "etc", "tmp", "root", "proc", "dev", "sys", "var", "opt", "run"])
      mkdirSync(join(root, name), { recursive: true });
    copyFileSync("/usr/bin/busybox", join(root, "bin/busybox"));
    for (const applet of execFileSync("busybox", ["--list"], { encoding: "utf8" }).trim().split("\n"))
      if (applet !== "busybox") symlinkSync("busybox", join(root, "bin", applet));
    copyFileSync("/usr/bin/git", join(root, "usr/bin/git"));
    const linked = execFileSync("ldd", [process.execPath, "/usr/bin/git"], { encoding: "utf8" });
    for (const library of new Set(linked.match(/\/\S*\.so\S*/g))) {
      mkdirSync(join(root, dirname(library)), { recursive: true });
      copyFileSync(library, join(root, library));
    }
    writeFileSync(join(root, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n");
    const archive = execFileSync("tar", ["-C", root, "-c", "."], { maxBuffer: 256 * 1024 * 1024 });
    await engine.importImage(image, Readable.from([archive]), new AbortController().signal);
  } finally {
    rmSync(root, { recursive: true });
  }
}
