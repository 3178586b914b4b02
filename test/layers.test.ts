import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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
  console: ["core", "http"],
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
  hub: ["core", "host", "runtime", "http", "agent"],
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
const CORE_MAY_USE = ["node:async_hooks", "node:crypto", "zod"];

const PACKAGES = join(import.meta.dirname, "..", "packages");
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^"';]*?from\s*["']([^"']+)["']|import\(\s*["']([^"']+)["']\s*\)|(?:^|\n)import\s*["']([^"']+)["']/g;

const sources = (name: string) =>
  readdirSync(join(PACKAGES, name, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => ({
      file: join(name, "src", file),
      text: readFileSync(join(PACKAGES, name, "src", file), "utf8"),
    }));

const importsOf = (text: string) =>
  [...text.matchAll(IMPORT)].map(([, from, dynamic, bare]) => from ?? dynamic ?? bare ?? "");
const isTest = (file: string) => /\.test\.ts$|test-|fixtures|\/testing\//.test(file);

test.each(readdirSync(PACKAGES))("%s imports only the packages below it", (name) => {
  expect(MAY_IMPORT).toHaveProperty(name);
  for (const { file, text } of sources(name)) {
    for (const from of importsOf(text)) {
      const other = /^@octant\/([a-z-]+)/.exec(from)?.[1];
      if (other) expect(MAY_IMPORT[name], `${file} imports ${from}`).toContain(other);
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
  for (const { file, text } of ["acp", "bridge", "terminal"].flatMap(sources))
    expect(text.match(/^import (?!type )[^;]*"@octant\/app"/m), file).toBeNull();
});

test("core uses zod and nothing that touches disk, clock or network", () => {
  for (const { file, text } of sources("core").filter(({ file }) => !isTest(file))) {
    for (const from of importsOf(text).filter((name) => !name.startsWith(".")))
      expect(CORE_MAY_USE, `${file} imports ${from}`).toContain(from);
    expect(text, `${file} asks for the time`).not.toMatch(
      /Date\.now|new Date\(\)|setTimeout|performance\.now/,
    );
  }
});

test("every package is declared where it is used", () => {
  for (const name of readdirSync(PACKAGES)) {
    const manifest = JSON.parse(readFileSync(join(PACKAGES, name, "package.json"), "utf8"));
    const { dependencies = {}, devDependencies = {} } = manifest;
    for (const { file, text } of sources(name).filter(({ file }) => !isTest(file))) {
      for (const from of importsOf(text).filter((one) => !/^(\.|node:)/.test(one))) {
        const owner = from.startsWith("@") ? from.split("/").slice(0, 2).join("/") : from.split("/")[0];
        // Types alone are gone from the built code.
        const isOnlyTypes = !new RegExp(`(?:^import (?!type )[^;]*|import\\()"${from}"`, "m").test(text);
        const declared = isOnlyTypes ? { ...dependencies, ...devDependencies } : dependencies;
        expect(Object.keys(declared), `${file} imports ${from}`).toContain(owner);
      }
    }
  }
});
