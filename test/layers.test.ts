import { globSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";

/**
 * The allowed imports, as in the guide. Node's own modules are open to all but core, which uses no disk, clock or
 * network.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  host: ["core"],
  search: ["core"],
  desktop: ["core", "host"],
  tools: ["core", "host", "desktop", "search"],
  wire: ["core"],
  mcp: ["core", "http"],
  runtime: ["core", "host"],
  http: ["core"],
  console: ["core", "http", "app"],
  "mcp-client": ["core"],
  agent: ["core", "runtime", "mcp-client"],
  "scripted-provider": ["agent"],
  conformance: ["core", "host", "runtime", "mcp-client", "agent"],
  app: [
    "core",
    "host",
    "desktop",
    "search",
    "tools",
    "runtime",
    "http",
    "mcp",
    "mcp-client",
    "wire",
    "agent",
  ],
  terminal: ["core", "runtime", "agent"],
  acp: ["core", "runtime", "agent", "app"],
  bridge: ["core", "http"],
  hub: ["core", "host", "runtime", "http", "wire", "agent", "app"],
  cli: [
    "core",
    "host",
    "desktop",
    "search",
    "tools",
    "wire",
    "http",
    "console",
    "mcp",
    "mcp-client",
    "runtime",
    "agent",
    "app",
    "conformance",
    "terminal",
    "acp",
    "bridge",
    "hub",
  ],
};
// node:vm only interrupts a hostile pattern.
const CORE_MAY_USE = ["node:async_hooks", "node:crypto", "node:vm", "zod"];

/** Packs are written as strangers would write them. */
const PACKS_MAY_IMPORT = ["core", "wire"];
const mayImport = (name: string) =>
  name.startsWith("packs/") ? PACKS_MAY_IMPORT : MAY_IMPORT[basename(name)];

const REPOSITORY = join(import.meta.dirname, "..");
const NAMES = globSync("{packages,packs}/*", { cwd: REPOSITORY }).sort();
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^"';]*?from\s*["']([^"']+)["']|import\(\s*["']([^"']+)["']\s*\)|(?:^|\n)import\s*["']([^"']+)["']/g;

const sources = (name: string) =>
  readdirSync(join(REPOSITORY, name, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => ({
      file: join(name, "src", file),
      text: readFileSync(join(REPOSITORY, name, "src", file), "utf8"),
    }));

const importsOf = (text: string) =>
  [...text.matchAll(IMPORT)].map(([, from, dynamic, bare]) => from ?? dynamic ?? bare ?? "");
/** Types alone are gone from the built code. */
const isOnlyType = (text: string, from: string) =>
  !new RegExp(`(?:^import (?!type )[^;]*|import\\()"${from}"`, "m").test(text);
const isTest = (file: string) => /\.test\.ts$|\/testing\//.test(file);

test.each(NAMES)("%s imports only the packages below it", (name) => {
  expect(mayImport(name), name).toBeDefined();
  for (const { file, text } of sources(name)) {
    for (const from of importsOf(text)) {
      const other = /^@octant\/([a-z-]+)/.exec(from)?.[1];
      // A pack may use the types of the tools that it calls.
      const isAllowedType = name.startsWith("packs/") && isOnlyType(text, from);
      if (other && !isAllowedType) expect(mayImport(name), `${file} imports ${from}`).toContain(other);
      if (from.startsWith(".")) {
        expect(join(file, "..", from), `${file} leaves its package with ${from}`).toMatch(
          new RegExp(`^${name}/`),
        );
        expect(from, `${file}: relative imports end in .ts`).toMatch(/\.(ts|js|json)$/);
      }
    }
  }
});

test("front ends take only types from app, so that a program can bring its own", () => {
  for (const { file, text } of ["acp", "bridge", "console", "terminal"].flatMap((name) =>
    sources(`packages/${name}`),
  ))
    expect(text.match(/^import (?!type )[^;]*"@octant\/app"/m), file).toBeNull();
});

test("core uses zod and nothing that touches disk, clock or network", () => {
  for (const { file, text } of sources("packages/core").filter(({ file }) => !isTest(file))) {
    for (const from of importsOf(text).filter((name) => !name.startsWith(".")))
      expect(CORE_MAY_USE, `${file} imports ${from}`).toContain(from);
    expect(text, `${file} asks for the time`).not.toMatch(
      /Date\.now|new Date\(\)|setTimeout|performance\.now/,
    );
  }
});

test("every package is declared where it is used", () => {
  for (const name of NAMES) {
    const manifest = JSON.parse(readFileSync(join(REPOSITORY, name, "package.json"), "utf8"));
    const { peerDependencies = {}, devDependencies = {} } = manifest;
    const dependencies = { ...manifest.dependencies, ...peerDependencies };
    for (const { file, text } of sources(name).filter(({ file }) => !isTest(file))) {
      for (const from of importsOf(text).filter((one) => !/^(\.|node:)/.test(one))) {
        const owner = from.startsWith("@") ? from.split("/").slice(0, 2).join("/") : from.split("/")[0];
        const declared = isOnlyType(text, from) ? { ...dependencies, ...devDependencies } : dependencies;
        expect(Object.keys(declared), `${file} imports ${from}`).toContain(owner);
      }
    }
  }
});
