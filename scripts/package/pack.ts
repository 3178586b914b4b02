import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadManifest, type Manifest, SHRINKWRAP } from "./packages.ts";
import { toShrinkwrap } from "./shrinkwrap.ts";

/** Packs each laid-out package into `<folder>.tgz`. The command comes last: it pins the tarballs of the others. */
export function packPackages(repository: string, out: string): void {
  const lock = JSON.parse(readFileSync(join(repository, "package-lock.json"), "utf8"));
  const packed: (Manifest & { integrity: string })[] = [];
  const byCommandLast = (a: Manifest, b: Manifest) => Number(!!a.bin) - Number(!!b.bin);
  for (const { folder, manifest } of globSync("*/package.json", { cwd: out })
    .sort()
    .map((path) => ({ folder: join(out, dirname(path)), manifest: loadManifest(join(out, dirname(path))) }))
    .sort((a, b) => byCommandLast(a.manifest, b.manifest))) {
    if (manifest.bin)
      writeFileSync(
        join(folder, SHRINKWRAP),
        `${JSON.stringify(toShrinkwrap(lock, manifest, packed), null, 2)}\n`,
      );
    packed.push({ ...manifest, integrity: integrityOf(pack(folder)) });
  }
}

function pack(folder: string): string {
  const { status, stdout } = spawnSync("npm", ["pack", "--json", "--ignore-scripts"], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`npm pack failed in ${folder}`);
  const tarball = `${folder}.tgz`;
  renameSync(join(folder, JSON.parse(stdout)[0].filename), tarball);
  return tarball;
}

/** As npm writes it in a lock file. */
export const integrityOf = (tarball: string): string =>
  `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
