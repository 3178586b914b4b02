import { spawnSync } from "node:child_process";
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadManifest, type Manifest, SHRINKWRAP, toPublished } from "../scripts/package/packages.ts";

const REPOSITORY = join(import.meta.dirname, "..");
const MODULES = join(REPOSITORY, "node_modules");
const LOCK: Readonly<Record<string, Pick<Manifest, "dependencies" | "optionalDependencies">>> = JSON.parse(
  readFileSync(join(REPOSITORY, "package-lock.json"), "utf8"),
).packages;

const published = new Map(
  globSync("packages/*", { cwd: REPOSITORY })
    .map((folder) => join(REPOSITORY, folder))
    .filter((folder) => !loadManifest(folder).private)
    .map((folder) => {
      const manifest = toPublished(folder, loadManifest(REPOSITORY), "test");
      return [manifest.name, { folder: basename(folder), manifest }] as const;
    }),
);

/** The names of all packages that an install of this one brings. */
function installOf(name: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(name)) return found;
  found.add(name);
  const { dependencies, optionalDependencies } =
    published.get(name)?.manifest ?? LOCK[`node_modules/${name}`] ?? {};
  for (const one of Object.keys({ ...dependencies, ...optionalDependencies })) installOf(one, found);
  return found;
}

test("an install of the MCP server brings neither Playwright nor TypeScript nor the host", () => {
  const heavy = /playwright|typescript|ripgrep|node-pty|@octant\/(?:host|runtime)$/;
  expect([...installOf("@octant/mcp")].filter((name) => heavy.test(name))).toEqual([]);
  expect([...installOf("@octant/cli")].filter((name) => heavy.test(name))).toContain("playwright-core");
});

test("programs can import the data files of a package by name", () => {
  const files = [...published.values()].flatMap(({ manifest }) =>
    (manifest.files ?? [])
      .filter((file) => file.endsWith(".json") && file !== SHRINKWRAP)
      .map((file) => ({ file, target: Object(manifest.exports)[`./${file}`] })),
  );
  expect(files.map(({ file }) => file)).toContain("run-stream.schema.json");
  for (const { file, target } of files) expect(target).toBe(`./${file}`);
});

let base: string;
// A second attempt starts anew.
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-published-")));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const tsc = (...args: string[]) => {
  const { stdout } = spawnSync(join(MODULES, ".bin/tsc"), args, { cwd: base, encoding: "utf8" });
  return stdout.split("\n").filter((line) => line !== "");
};

const link = (target: string, path: string) => {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
};

/** Every package in a folder of its own beside links to its declared dependencies: it finds no others. */
const homeOf = (name: string) => join(base, "store", name.replace("/", "+"), "node_modules");

function layOut(): void {
  tsc("-p", join(REPOSITORY, "scripts/build.tsconfig.json"), "--outDir", join(base, "built"));
  for (const [name, { folder, manifest }] of published) {
    const to = join(homeOf(name), name);
    mkdirSync(to, { recursive: true });
    renameSync(join(base, "built", "packages", folder, "src"), join(to, "dist"));
    writeFileSync(join(to, "package.json"), JSON.stringify(manifest));
    for (const one of Object.keys(manifest.dependencies ?? {}))
      link(published.has(one) ? join(homeOf(one), one) : join(MODULES, one), join(homeOf(name), one));
  }
}

/** Three runs of the compiler over all packages. */
const COMPILING_MS = 300_000;

test("the types of every published package and the examples compile without skipLibCheck", {
  timeout: COMPILING_MS,
}, () => {
  layOut();
  const modules = join(base, "consumer/node_modules");
  for (const name of published.keys()) link(join(homeOf(name), name), join(modules, name));
  for (const name of ["@types/node", "zod"]) link(join(MODULES, name), join(modules, name));
  const examples = globSync("*.ts", { cwd: join(REPOSITORY, "examples") });
  for (const name of examples) cpSync(join(REPOSITORY, "examples", name), join(base, "consumer", name));
  // The command has no types.
  const names = [...published.keys()].filter((name) => published.get(name)?.manifest.exports);
  const uses = names.map((name, index) => `import * as p${index} from "${name}";\nvoid p${index};\n`);
  writeFileSync(join(base, "consumer/use.ts"), uses.join(""));
  writeFileSync(join(base, "consumer/package.json"), '{"type":"module"}');
  const compilerOptions = {
    target: "esnext",
    module: "nodenext",
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    types: ["node"],
  };
  writeFileSync(
    join(base, "consumer/tsconfig.json"),
    JSON.stringify({ compilerOptions, files: ["use.ts", ...examples] }),
  );
  expect(tsc("-p", "consumer")).toEqual([]);
  // The types of NATS do not compile with it; a line that is indented continues the one before.
  const strictest = tsc("-p", "consumer", "--exactOptionalPropertyTypes");
  expect(strictest.filter((line) => /^\S/.test(line) && !line.includes("@nats-io"))).toEqual([]);
});
