// Builds every package into its own dist folder. In the checkout, `node --conditions=built` runs what was built.
import { spawnSync } from "node:child_process";
import { copyFileSync, globSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { rolldown } from "rolldown";
import { LANGUAGES } from "../packages/search/src/syntax/languages/index.ts";

const ROOT = join(import.meta.dirname, "..");
// One run for all packages sees each source once; it is laid out as packages are: <package>/src.
const ALL = join(ROOT, "dist");

const started = performance.now();
const names = compile();
await bundleCommand();
// Beside the code that loads them: the packages they come in weigh ten times as much.
for (const folder of ["search/dist/syntax/grammars", "cli/dist/grammars"]) copyGrammars(folder);
console.log(`built ${names.join(", ")} in ${Math.round(performance.now() - started)} ms`);

function compile(): string[] {
  rmSync(ALL, { recursive: true, force: true });
  const config = join(import.meta.dirname, "build.tsconfig.json");
  const tsc = spawnSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", config], {
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (tsc.status !== 0) process.exit(1);
  const names = globSync("*/src", { cwd: ALL }).map((path) => path.slice(0, -"/src".length));
  for (const name of names) {
    const dist = join(ROOT, "packages", name, "dist");
    rmSync(dist, { recursive: true, force: true });
    renameSync(join(ALL, name, "src"), dist);
  }
  rmSync(ALL, { recursive: true });
  return names.sort();
}

/** The command starts twice as fast from one file as from the three hundred that it is made of. */
async function bundleCommand(): Promise<void> {
  const dist = join(ROOT, "packages/cli/dist");
  // What is started as a process of its own is looked for beside the one that starts it.
  const processes = globSync("packages/*/src/**/*-entry.ts", { cwd: ROOT });
  await using bundle = await rolldown({
    input: ["packages/cli/src/main.ts", ...processes],
    cwd: ROOT,
    platform: "node",
    // These look for their programs beside themselves.
    external: [
      /^@vscode\/ripgrep/,
      /^@lydell\/node-pty/,
      /^jsonc-parser/,
      /^web-tree-sitter/,
      /^@parcel\/watcher/,
    ],
  });
  // All on one level, where `../package.json` is what it was in the sources.
  await bundle.write({
    dir: dist,
    entryFileNames: "[name].js",
    chunkFileNames: "main.[name]-[hash].js",
    // Less to read at every start. Names stay, so that a stack in the log can be read.
    minify: { mangle: false, compress: true, codegen: { removeWhitespace: true } },
  });
}

function copyGrammars(folder: string): void {
  const target = join(ROOT, "packages", folder);
  mkdirSync(target, { recursive: true });
  const { resolve } = createRequire(import.meta.url);
  for (const { grammar } of LANGUAGES) copyFileSync(resolve(grammar), join(target, basename(grammar)));
}
