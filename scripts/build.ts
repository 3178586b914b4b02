// Builds every package and pack into its own dist folder. In the checkout, `node --conditions=built` runs the build output.
import { spawnSync } from "node:child_process";
import { globSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { buildPage } from "./build/build-page.ts";
import { bundleCommand, copySecretRules, copyVectors, copyWordTable } from "./build/bundle-command.ts";
import { copyGrammars } from "./build/copy-grammars.ts";

const ROOT = join(import.meta.dirname, "..");
// One compiler run for all packages reads each source once; the output is <package>/src.
const ALL = join(ROOT, "dist");

const started = performance.now();
const names = compile();
await bundleCommand(join(ROOT, "packages/cli/dist"));
for (const folder of ["search/dist/syntax/grammars", "cli/dist/grammars"])
  copyGrammars(join(ROOT, "packages", folder));
copyWordTable(join(ROOT, "packages/search/dist/vector"));
copySecretRules(join(ROOT, "packages/runtime/dist/redact"));
copyVectors(join(ROOT, "packages/conformance/dist/vectors"));
for (const folder of ["console/dist/page", "cli/dist/page"]) await buildPage(join(ROOT, "packages", folder));
console.log(`built ${names.join(", ")} in ${Math.round(performance.now() - started)} ms`);

function compile(): string[] {
  rmSync(ALL, { recursive: true, force: true });
  const config = join(import.meta.dirname, "build.tsconfig.json");
  const tsc = spawnSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", config], {
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (tsc.status !== 0) process.exit(1);
  const names = globSync("{packages,packs}/*/src", { cwd: ALL }).map((path) => path.slice(0, -"/src".length));
  for (const name of names) {
    const dist = join(ROOT, name, "dist");
    rmSync(dist, { recursive: true, force: true });
    renameSync(join(ALL, name, "src"), dist);
  }
  rmSync(ALL, { recursive: true });
  return names.sort();
}
