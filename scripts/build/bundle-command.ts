import { copyFileSync, globSync, mkdirSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { type Plugin, rolldown } from "rolldown";
import { DOMAINS } from "../../packages/conformance/src/load-vectors.ts";

const ROOT = join(import.meta.dirname, "../..");

/** The command starts twice as fast from one file as from its three hundred modules. */
export async function bundleCommand(dist: string): Promise<void> {
  // Entries of separate processes are looked up next to the file that starts them.
  const processes = globSync("packages/*/src/**/*-entry.ts", { cwd: ROOT });
  await using bundle = await rolldown({
    input: ["packages/cli/src/main.ts", ...processes],
    cwd: ROOT,
    platform: "node",
    // Its main file is UMD, which cannot be bundled.
    resolve: { alias: { "jsonc-parser": join(ROOT, "node_modules/jsonc-parser/lib/esm/main.js") } },
    // These look for their programs in their own folder.
    external: [
      /^@vscode\/ripgrep/,
      /^@lydell\/node-pty/,
      /^web-tree-sitter/,
      /^@parcel\/watcher/,
      /^zeromq/,
      /^msgpackr/,
      /^playwright-core/,
    ],
    plugins: [httpWithoutFetch],
  });
  // All on one level, where `../package.json` is the same as in the sources.
  await bundle.write({
    dir: dist,
    entryFileNames: "[name].js",
    chunkFileNames: "main.[name]-[hash].js",
    // Less to read at every start. Names stay, so that a stack in the log is readable.
    minify: { mangle: false, compress: true, codegen: { removeWhitespace: true } },
  });
  copyWordTable(dist);
  copySecretRules(dist);
  copyVectors(join(dist, "vectors"));
}

/**
 * An import of `node:http` reads all of its exports, and `WebSocket` among them loads Node's whole fetch: 30 ms of every
 * start. This one leaves out the exports that are computed when they are read.
 */
const httpWithoutFetch: Plugin = {
  name: "http-without-fetch",
  resolveId: (id) => (id === "node:http" ? "\0http" : undefined),
  load(id) {
    if (id !== "\0http") return undefined;
    const isPlain = (name: string) => Object.getOwnPropertyDescriptor(http, name)?.get === undefined;
    const names = Object.keys(http).filter(isPlain).join(", ");
    return `const http = process.getBuiltinModule("node:http"); export const { ${names} } = http; export default http;`;
  },
};

/** The vectors, next to the code that loads them. */
export function copyVectors(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const domain of DOMAINS)
    copyFileSync(join(ROOT, "vectors", `${domain}.json`), join(folder, `${domain}.json`));
}

/** The rules of the redactor, next to the code that loads them, and their licence. */
export function copySecretRules(folder: string): void {
  const runtime = join(ROOT, "packages/runtime");
  copyFileSync(join(runtime, "src/redact/gitleaks-rules.json"), join(folder, "gitleaks-rules.json"));
  copyFileSync(join(runtime, "NOTICE.md"), join(folder, "NOTICE.md"));
}

/** The word table of the search package, next to the code that loads it. */
export function copyWordTable(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of ["code-words.bin", "code-words.json"])
    copyFileSync(join(ROOT, "packages/search/data", name), join(folder, name));
}
