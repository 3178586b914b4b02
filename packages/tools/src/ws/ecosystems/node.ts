import type { Command, Ecosystem, EntryPoint, PackageFolder } from "../detect/ecosystem.ts";
import type { Data } from "../formats/data.ts";
import { readYamlList } from "../formats/yaml.ts";
import { frameworksAmong } from "./frameworks.ts";
import { type NodeManager, nodeManagerOf } from "./node-manager.ts";
import { nodeTests } from "./node-tests.ts";

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
      managers: [{ name: manager.name, from }],
      build: buildCommands(manifest, manager),
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

const buildCommands = (manifest: Data, manager: NodeManager): Command[] =>
  manifest
    .get("scripts")
    .keys.filter((name) => BUILD_SCRIPT.test(name))
    .map((name) => ({ name, command: [...manager.run, name] }));

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
  return usual ? [{ path: usual, kind: "main" }] : [];
}

const USUAL_ENTRIES = ["src/index", "src/main", "index", "server", "app", "main"].flatMap((stem) =>
  ["ts", "tsx", "js", "jsx", "mjs"].map((extension) => `${stem}.${extension}`),
);

function workspaces(folder: PackageFolder, manifest: Data, manager: NodeManager) {
  const declared = manifest.get("workspaces");
  const members = [...declared.texts, ...declared.get("packages").texts];
  const pnpm = readYamlList(folder.text("pnpm-workspace.yaml"), "packages");
  const lerna = folder.json("lerna.json").get("packages").texts;
  return [
    ...(members.length > 0 ? [{ tool: `${manager.name} workspaces`, members }] : []),
    ...(pnpm.length > 0 ? [{ tool: "pnpm workspaces", members: pnpm }] : []),
    ...(folder.names.has("lerna.json") ? [{ tool: "lerna", members: lerna }] : []),
    ...(folder.names.has("nx.json") ? [{ tool: "nx" }] : []),
    ...(folder.first("turbo.json", "turbo.jsonc") ? [{ tool: "turbo" }] : []),
    ...(folder.names.has("rush.json") ? [{ tool: "rush" }] : []),
  ];
}

const FRAMEWORKS = {
  "@angular/core": "angular",
  "@hapi/hapi": "hapi",
  "@nestjs/core": "nest",
  "@remix-run/react": "remix",
  "@sveltejs/kit": "sveltekit",
  "@tauri-apps/api": "tauri",
  astro: "astro",
  electron: "electron",
  ember: "ember",
  "ember-source": "ember",
  expo: "expo",
  express: "express",
  fastify: "fastify",
  gatsby: "gatsby",
  hono: "hono",
  koa: "koa",
  lit: "lit",
  next: "next",
  nuxt: "nuxt",
  preact: "preact",
  react: "react",
  "react-native": "react-native",
  "react-router": "react-router",
  "solid-js": "solid",
  svelte: "svelte",
  vite: "vite",
  vitepress: "vitepress",
  vue: "vue",
  webpack: "webpack",
} as const;
