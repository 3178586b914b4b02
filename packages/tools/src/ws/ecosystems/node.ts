import {
  type Commands,
  type Ecosystem,
  type EntryPoint,
  entryPointsAt,
  type PackageFolder,
  toScripts,
  workspaceOf,
} from "../detect/ecosystem.ts";
import type { Data } from "../formats/data.ts";
import { readYamlList } from "../formats/yaml.ts";
import { frameworksAmong, namedAlike } from "./frameworks.ts";

/** Packages with a package.json, managed by npm, pnpm, yarn or bun. */
export const node: Ecosystem = {
  name: "node",
  markers: ["package.json"],
  inspect(folder) {
    const manifest = folder.json("package.json");
    if (isOnlyDirection(manifest)) return undefined;
    const { manager, from } = nodeManagerOf(folder, manifest);
    const dependencies = dependenciesOf(manifest);
    return {
      name: manifest.get("name").text,
      managers: { [manager.name]: from },
      build: toScripts(
        manifest.get("scripts").keys.filter((name) => BUILD_SCRIPT.test(name)),
        manager.name,
        "run",
      ),
      test: nodeTests(manifest, dependencies, manager),
      frameworks: frameworksAmong(dependencies, FRAMEWORKS),
      entryPoints: entryPoints(manifest, folder),
      workspaces: workspaces(folder, manifest, manager),
    };
  },
};

/** A nameless package.json inside a package only sets the module format or entry file. */
const isOnlyDirection = ({ keys }: Data): boolean =>
  keys.length > 0 &&
  !["name", "scripts", "dependencies", "devDependencies", "workspaces"].some((key) => keys.includes(key));

const dependenciesOf = (manifest: Data): ReadonlySet<string> =>
  new Set(
    ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"].flatMap(
      (kind) => manifest.get(kind).keys,
    ),
  );

/** Scripts with conventional names; variants such as `build:css` count too. */
const BUILD_SCRIPT =
  /^(build|compile|bundle|typecheck|type-check|types|check|lint|format|dev|start|serve|preview)(:[\w.-]+)*$/;

function entryPoints(manifest: Data, folder: PackageFolder): EntryPoint[] {
  const declared: EntryPoint[] = [];
  for (const kind of ["main", "module"] as const) {
    const path = manifest.get(kind).text;
    if (path) declared.push({ path, kind });
  }
  const root = manifest.get("exports");
  for (const path of [
    root.text,
    root.get(".").text,
    root.get(".", "import").text,
    root.get(".", "default").text,
  ]) {
    if (path) declared.push({ path, kind: "module" });
  }
  const bin = manifest.get("bin");
  if (bin.text) declared.push({ path: bin.text, kind: "command", name: manifest.get("name").text });
  for (const name of bin.keys) {
    const path = bin.get(name).text;
    if (path) declared.push({ path, kind: "command", name });
  }
  if (declared.length > 0) return declared;
  const usual = USUAL_ENTRIES.find((path) => folder.hasFile(path));
  return entryPointsAt("main", usual ? [usual] : []);
}

const USUAL_ENTRIES = ["src/index", "src/main", "index", "server", "app", "main"].flatMap((stem) =>
  ["ts", "tsx", "js", "jsx", "mjs"].map((extension) => `${stem}.${extension}`),
);

interface NodeManager {
  readonly name: string;
  /** Files that only this manager writes. */
  readonly files: readonly string[];
  /** Runs a program of a dependency. */
  readonly exec: readonly string[];
}

const NPM: NodeManager = { name: "npm", files: ["package-lock.json", "npm-shrinkwrap.json"], exec: ["npx"] };
const MANAGERS: readonly NodeManager[] = [
  { name: "pnpm", files: ["pnpm-lock.yaml", "pnpm-workspace.yaml"], exec: ["pnpm", "exec"] },
  { name: "yarn", files: ["yarn.lock", ".yarnrc.yml"], exec: ["yarn", "run"] },
  { name: "bun", files: ["bun.lock", "bun.lockb"], exec: ["bunx"] },
  NPM,
];

/** The package manager: from the `packageManager` field, otherwise the nearest lock file, otherwise npm. */
function nodeManagerOf(folder: PackageFolder, manifest: Data): { manager: NodeManager; from: string } {
  const [named] = manifest.get("packageManager").text?.split("@") ?? [];
  const declared = MANAGERS.find(({ name }) => name === named);
  if (declared) return { manager: declared, from: "package.json" };
  const lock = folder.nearest(MANAGERS.flatMap(({ files }) => files));
  const manager = MANAGERS.find(({ files }) => lock !== undefined && files.includes(lock.name));
  return lock && manager ? { manager, from: lock.path } : { manager: NPM, from: "package.json" };
}

/** The command of each runner that runs all tests once. */
const RUNNERS: Readonly<Record<string, string>> = {
  vitest: "vitest run",
  jest: "jest",
  mocha: "mocha",
  ava: "ava",
  tap: "tap",
  jasmine: "jasmine",
  karma: "karma start --single-run",
  playwright: "playwright test",
  cypress: "cypress run",
};

/** Runners without a dependency, recognised by the scripts that call them. */
const BUILT_IN = [
  { name: "node:test", pattern: /\b(?:node|tsx)\s(?:[^&|;]*\s)?--test(?![\w-])/ },
  { name: "bun test", pattern: /\bbun test\b/ },
  { name: "deno test", pattern: /\bdeno test\b/ },
];

/** Each runner with a script that calls it, or with its own command when no script does. */
function nodeTests(manifest: Data, dependencies: ReadonlySet<string>, manager: NodeManager): Commands {
  const scripts = testScripts(manifest);
  const calling = (pattern: RegExp) => scripts.find(({ body }) => pattern.test(body));
  const tests: (readonly [string, readonly string[]])[] = [];
  for (const { name, pattern } of BUILT_IN) {
    const script = calling(pattern);
    if (script) tests.push([name, [manager.name, "run", script.name]]);
  }
  for (const [name, command] of Object.entries(RUNNERS)) {
    const script = calling(programIn(name));
    if (!script && !dependencies.has(name === "playwright" ? "@playwright/test" : name)) continue;
    tests.push([
      name,
      script ? [manager.name, "run", script.name] : [...manager.exec, ...command.split(" ")],
    ]);
  }
  const main = scripts.find(({ name }) => name === "test");
  const isCovered = tests.some(([, command]) => command.at(-1) === "test" && command[1] === "run");
  if (main && !isCovered) tests.unshift(["script", [manager.name, "run", "test"]]);
  return tests;
}

/** Where a script calls a program; the value of `--reporter tap` and a folder of that name are not calls. */
const programIn = (name: string): RegExp =>
  new RegExp(`(?:^|[\\s;&|(]|\\.bin/)(?<!(?:-R|--reporter)\\s)${name}(?=$|[\\s;&|)])`);

/** `test` first, then its variants in file order; the placeholder of `npm init` does not count. */
function testScripts(manifest: Data): { name: string; body: string }[] {
  const scripts = manifest.get("scripts");
  return scripts.keys
    .filter((name) => TEST_SCRIPT.test(name))
    .map((name) => ({ name, body: scripts.get(name).text ?? "" }))
    .filter(({ body }) => body !== "" && !body.includes("no test specified"))
    .sort((a, b) => Number(b.name === "test") - Number(a.name === "test"));
}

const TEST_SCRIPT = /^(test|tests|unit|e2e|integration)([:_-][\w.:-]+)?$/;

function workspaces(folder: PackageFolder, manifest: Data, manager: NodeManager) {
  const declared = manifest.get("workspaces");
  const members = [...declared.texts, ...declared.get("packages").texts];
  const pnpm = readYamlList(folder.text("pnpm-workspace.yaml"), "packages");
  const lerna = folder.json("lerna.json").get("packages").texts;
  return {
    ...workspaceOf(`${manager.name} workspaces`, members),
    ...workspaceOf("pnpm workspaces", pnpm),
    ...(folder.names.has("lerna.json") && { lerna }),
    ...(folder.names.has("nx.json") && { nx: [] }),
    ...(folder.first("turbo.json", "turbo.jsonc") && { turbo: [] }),
    ...(folder.names.has("rush.json") && { rush: [] }),
  };
}

const FRAMEWORKS = {
  ...namedAlike("astro electron ember expo express fastify gatsby hono koa lit next nuxt preact react"),
  ...namedAlike("react-native react-router svelte vite vitepress vue webpack"),
  "@angular/core": "angular",
  "@hapi/hapi": "hapi",
  "@nestjs/core": "nest",
  "@remix-run/react": "remix",
  "@sveltejs/kit": "sveltekit",
  "@tauri-apps/api": "tauri",
  "ember-source": "ember",
  "solid-js": "solid",
};
