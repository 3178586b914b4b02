import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { registryName } from "./server-json.ts";

export const SHRINKWRAP = "npm-shrinkwrap.json";

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly private?: boolean;
  readonly files?: readonly string[];
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: unknown;
  /** Fields that only the published manifest has. */
  readonly publishConfig?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly license?: string;
  readonly engines?: Readonly<Record<string, string>>;
}

/** Lays out every public package in a folder below `out`, ready to be packed; returns their manifests. */
export function layOutPackages(repository: string, out: string, owner: string): Manifest[] {
  const root = loadManifest(repository);
  return globSync("{packages,packs}/*/package.json", { cwd: repository })
    .filter((path) => !loadManifest(join(repository, dirname(path))).private)
    .sort()
    .map((path) => {
      const from = join(repository, dirname(path));
      const to = join(out, path.startsWith("packs/") ? `pack-${basename(from)}` : basename(from));
      const manifest = toPublished(from, root, owner);
      mkdirSync(to, { recursive: true });
      for (const file of loadManifest(from).files ?? []) copyBuilt(join(from, file), join(to, file));
      cpSync(join(repository, "LICENSE"), join(to, "LICENSE"));
      cpSync(join(from, "README.md"), join(to, "README.md"));
      writeFileSync(join(to, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
      return manifest;
    });
}

/**
 * npm treats most of `publishConfig` as its own settings, so its fields are applied here: exports, and optional
 * peers, which `npm start` would install in the checkout. The command brings its own Node, like the checkout, and
 * pins its dependencies; the MCP registry finds it by `mcpName`.
 */
export function toPublished(folder: string, root: Manifest, owner: string): Manifest {
  const { publishConfig, ...manifest } = loadManifest(folder);
  return {
    ...manifest,
    ...publishConfig,
    ...(manifest.bin && {
      mcpName: registryName(owner),
      files: [...(manifest.files ?? []), SHRINKWRAP],
      optionalDependencies: root.optionalDependencies,
    }),
    repository: {
      type: "git",
      url: `git+https://github.com/${owner}/octant.git`,
      directory: `${basename(dirname(folder))}/${basename(folder)}`,
    },
    publishConfig: { access: "public" },
  } as Manifest; // With fields that we never read.
}

export const loadManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

function copyBuilt(from: string, to: string): void {
  if (!existsSync(from)) throw new Error(`${from} is missing; run npm run build first`);
  cpSync(from, to, { recursive: true });
}
