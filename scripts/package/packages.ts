import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly files?: readonly string[];
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: unknown;
  /** Fields that only the published manifest has. */
  readonly publishConfig?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Lays out every public package in a folder below `out`, ready to be published; returns their manifests. */
export function layOutPackages(repository: string, out: string, mcpName: string): Manifest[] {
  const root = loadManifest(repository);
  return globSync("packages/*/package.json", { cwd: repository })
    .filter((path) => !loadManifest(join(repository, dirname(path))).private)
    .sort()
    .map((path) => {
      const from = join(repository, dirname(path));
      const to = join(out, basename(from));
      const manifest = toPublished(loadManifest(from), root, mcpName);
      mkdirSync(to, { recursive: true });
      for (const file of manifest.files ?? []) copyBuilt(join(from, file), join(to, file));
      for (const file of ["LICENSE", "README.md"])
        if (existsSync(join(repository, file))) cpSync(join(repository, file), join(to, file));
      writeFileSync(join(to, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
      return manifest;
    });
}

/**
 * npm treats most of `publishConfig` as its own settings, so its fields are applied here: exports, and optional
 * peers, which `npm start` would install in the checkout. The command brings its own Node, like the checkout; the
 * registry finds it by `mcpName`.
 */
export function toPublished(manifest: Manifest, root: Manifest, mcpName: string): Manifest {
  const { publishConfig, ...rest } = manifest;
  return {
    ...rest,
    ...publishConfig,
    ...(manifest.bin && { mcpName, optionalDependencies: root.optionalDependencies }),
    publishConfig: { access: "public" },
  } as Manifest; // With two fields more than we read.
}

export const loadManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

function copyBuilt(from: string, to: string): void {
  if (!existsSync(from)) throw new Error(`${from} is missing; run npm run build first`);
  cpSync(from, to, { recursive: true });
}
