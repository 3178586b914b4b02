import { copyFileSync, globSync, mkdirSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { type CodeSplittingGroup, type Plugin, rolldown } from "rolldown";
import { DOMAINS } from "../../packages/conformance/src/load-vectors.ts";

const ROOT = join(import.meta.dirname, "../..");

/** The command starts twice as fast from a few files as from its modules. */
export async function bundleCommand(dist: string): Promise<void> {
  // Entries of separate processes are looked up next to the file that starts them.
  const entries = globSync("packages/*/src/**/*-entry.ts", { cwd: ROOT });
  // A pack may also run in the process of the command, and then shares its modules.
  const ofPacks = entries.filter((path) => path.startsWith("packages/app/src/packs/"));
  const processes = entries.filter((path) => !ofPacks.includes(path));
  await bundle(dist, "main", ["packages/cli/src/main.ts", ...ofPacks], CHUNKS);
  await bundle(dist, "process", processes, []);
  copyWordTable(dist);
  copySecretRules(dist);
  copyVectors(join(dist, "vectors"));
}

/**
 * Modules that are loaded together, as one file each: finding and opening a file takes as long as loading 30 KB of code.
 * A group has all imports of its modules, except those in the groups before it, so no two files import each other.
 */
const CHUNKS = [
  { name: "command", test: /cli\/src\/main\.ts$/, priority: 5 },
  // Answers a client's handshake before any tool is loaded.
  { name: "handshake", test: /cli\/src\/commands\/serve\.ts$/, priority: 4 },
  { name: "core", test: /packs\/pack-core-entry\.ts$/, priority: 3 },
  // Short commands and the processes of packs load their parts of the server alone.
  {
    name: "part",
    test: /cli\/src\/commands\/(answer|audit|login|logout|ps|setup)\.ts$|packs\/run-pack\.ts$/,
    priority: 2,
    entriesAware: true,
  },
  { name: "server", test: /cli\/src\/serve-stdio\.ts$/, priority: 1 },
];

async function bundle(
  dist: string,
  prefix: string,
  input: readonly string[],
  groups: readonly CodeSplittingGroup[],
): Promise<void> {
  await using bundled = await rolldown({
    input: [...input],
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
    plugins: [httpWithoutFetch, lateStringWidth, splitPackages],
    // A module that one command loads on demand, another needs at once.
    checks: { ineffectiveDynamicImport: false },
  });
  // All on one level, where `../package.json` is the same as in the sources.
  const { output } = await bundled.write({
    dir: dist,
    entryFileNames: "[name].js",
    // The name of a part lists all that load it.
    chunkFileNames: ({ name }) => `${prefix}.${name.replace(/~.*/, "")}-[hash].js`,
    codeSplitting: { groups: [...groups] },
    // Less to read at every start. Names stay, so that a stack in the log is readable.
    minify: { mangle: false, compress: true, codegen: { removeWhitespace: true } },
  });
  refuseCircles(new Map(output.map((file) => [file.fileName, "imports" in file ? file.imports : []])));
}

/** Of two files that import each other, one would run before the other has its constants. */
function refuseCircles(files: ReadonlyMap<string, readonly string[]>): void {
  const done = new Set<string>();
  const visit = (name: string, above: readonly string[]) => {
    if (above.includes(name)) throw new Error(`files import each other: ${[...above, name].join(", ")}`);
    if (done.has(name)) return;
    for (const imported of files.get(name) ?? []) visit(imported, [...above, name]);
    done.add(name);
  };
  for (const name of files.keys()) visit(name, []);
}

const ALL_OF = "\0all of ";

/**
 * A package that is imported on demand somewhere is needed as a whole there. Without a module of its own for that,
 * everybody who imports one name of the package would load all of it.
 */
const splitPackages: Plugin = {
  name: "split-packages",
  async resolveId(id, importer, { kind }) {
    if (kind !== "dynamic-import" || !id.startsWith("@octant/")) return undefined;
    const index = await this.resolve(id, importer);
    return index && { id: `${ALL_OF}${index.id}`, moduleSideEffects: false };
  },
  load: (id) =>
    id.startsWith(ALL_OF) ? `export * from ${JSON.stringify(id.slice(ALL_OF.length))};` : undefined,
};

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

/**
 * Setting up the tables of this package takes 19 ms, and only text that is not Latin needs them. The bundler runs a
 * module that is required at the first call.
 */
const lateStringWidth: Plugin = {
  name: "late-string-width",
  async resolveId(id, importer) {
    if (id !== "string-width") return undefined;
    const real = await this.resolve(id, importer);
    return real && `${LATE}${real.id}`;
  },
  load(id) {
    if (!id.startsWith(LATE)) return undefined;
    const real = JSON.stringify(id.slice(LATE.length));
    return `let width; export default (...given) => (width ??= require(${real}).default)(...given);`;
  },
};

const LATE = "\0late ";

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
