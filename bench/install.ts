import { cpSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const REPOSITORY = join(import.meta.dirname, "..");
const OURS = /^@octant\//;

interface Manifest {
  readonly name: string;
  readonly files?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly publishConfig: object;
}

/**
 * Lays out the built packages like an install of the published ones, and returns the launcher's path: in the checkout
 * the launcher would run the sources.
 */
export function layOutInstall(folder: string): string {
  const modules = join(folder, "node_modules");
  const foreign = new Set<string>();
  for (const path of globSync("packages/*/package.json", { cwd: REPOSITORY })) {
    const from = join(REPOSITORY, dirname(path));
    const manifest: Manifest = JSON.parse(readFileSync(join(from, "package.json"), "utf8"));
    // A package without files is for tests only.
    if (!manifest.files) continue;
    const to = join(modules, manifest.name);
    for (const published of manifest.files)
      cpSync(join(from, published), join(to, published), { recursive: true });
    writeFileSync(join(to, "package.json"), JSON.stringify({ ...manifest, ...manifest.publishConfig }));
    for (const name of Object.keys(manifest.dependencies ?? {})) if (!OURS.test(name)) foreign.add(name);
  }
  for (const name of foreign) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(REPOSITORY, "node_modules", name), join(modules, name));
  }
  return join(modules, "@octant/cli/bin/octant.js");
}
