import { globSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadManifest, type Manifest } from "./packages.ts";
import { DESCRIPTION } from "./server-json.ts";
import { encodeZip, type ZipFile } from "./zip.ts";

/** The bundle format's placeholder for its folder. */
const HERE = `$\{__dirname}`;
const CHOSEN_ROOT = `$\{user_config.root}`;
const OURS = /^@octant\//;

export interface BundlePlatform {
  readonly os: string;
  readonly arch: string;
}

/** An .mcpb file: the published command and the packages that cannot be bundled into it. */
export function packBundle(command: string, modules: string, platform: BundlePlatform): Buffer {
  const manifest = loadManifest(command);
  const foreign = withDependencies(
    Object.keys(manifest.dependencies ?? {}).filter((name) => !OURS.test(name)),
    modules,
  );
  return encodeZip([
    { name: "manifest.json", mode: 0o644, content: json(toBundleManifest(manifest, platform)) },
    ...filesIn(command, "server"),
    ...foreign.flatMap((name) => filesIn(join(modules, name), `server/node_modules/${name}`)),
  ]);
}

/** Version 0.3 of the format. It contains programs for one platform, so it is for that one only. */
const toBundleManifest = ({ version }: Manifest, { os }: BundlePlatform) => ({
  manifest_version: "0.3",
  name: "octant",
  display_name: "Octant",
  version,
  description: DESCRIPTION,
  author: { name: "The Octant authors" },
  license: "MIT",
  server: {
    type: "node",
    entry_point: "server/bin/octant.js",
    mcp_config: {
      command: "node",
      args: [`${HERE}/server/bin/octant.js`, "serve", "--answers", "text", "--root", CHOSEN_ROOT],
    },
  },
  compatibility: { platforms: [os], runtimes: { node: ">=24" } },
  user_config: {
    root: {
      type: "directory",
      title: "Project",
      description: "The folder that Octant may work in",
      required: true,
    },
  },
});

/** These and their dependencies, as far as npm has installed them: those of other platforms are missing. */
export function withDependencies(names: readonly string[], modules: string): string[] {
  const found = new Set<string>();
  const pending = [...names];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (found.has(name) || !isFolder(join(modules, name))) continue;
    found.add(name);
    const { dependencies, optionalDependencies } = loadManifest(join(modules, name));
    pending.push(...Object.keys({ ...dependencies, ...optionalDependencies }));
  }
  return [...found].sort();
}

const isFolder = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Types and maps are useless to a running server. */
function filesIn(folder: string, prefix: string): ZipFile[] {
  return globSync("**/*", { cwd: folder, exclude: ["**/*.d.ts", "**/*.map"] })
    .sort()
    .map((path) => ({ path: join(folder, path), name: `${prefix}/${path.replaceAll("\\", "/")}` }))
    .filter(({ path }) => lstatSync(path).isFile())
    .map(({ path, name }) => ({ name, mode: lstatSync(path).mode & 0o777, content: readFileSync(path) }));
}

const json = (value: unknown) => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
