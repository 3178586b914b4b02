import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { attempt, invalidArgument, PackManifest, ToolError } from "@octant/core";
import { isWithin, parseHostRule } from "@octant/host";
import { z } from "zod";
import { loadVersion } from "../version.ts";

/** A pack as its package.json declares it; none of its code has run. */
export interface FoundPack extends PackManifest {
  /** The real path. */
  readonly folder: string;
  readonly version: string;
  /** The file of its module. */
  readonly entry: string;
}

const CORE = "@octant/core";

const Manifest = z.object({
  version: z.string().default("0.0.0"),
  exports: z.unknown().optional(),
  main: z.string().optional(),
  octant: z.unknown(),
  dependencies: z.record(z.string(), z.string()).optional(),
  peerDependencies: z.record(z.string(), z.string()).optional(),
});

/** Reads the declaration of the pack in a folder; a ToolError says what is wrong with it. */
export function readPack(path: string): FoundPack {
  const file = join(path, "package.json");
  if (!existsSync(file))
    throw new ToolError(
      "NOT_FOUND",
      `${path} is not a pack: it has no package.json; octant pack new makes one`,
      {
        id: path,
      },
    );
  const folder = realpathSync(path);
  const { version, octant, exports, main, ...about } = parse(Manifest, parseJson(file), file);
  if (octant === undefined)
    throw invalidArgument(file, `not a pack: package.json has no field "octant"; docs/packs.md shows it`);
  const manifest = parse(PackManifest, octant, `${file}: octant`);
  checkHosts(file, manifest);
  checkCore(manifest.pack, about.peerDependencies?.[CORE] ?? about.dependencies?.[CORE]);
  const entry = resolve(folder, entryOf(exports) ?? main ?? "index.js");
  if (!isWithin(folder, entry) || !existsSync(entry))
    throw invalidArgument(file, `the module of the pack is missing: ${entry}; exports names it`);
  return { ...manifest, folder, version, entry };
}

function checkHosts(file: string, { rights: { network } }: PackManifest): void {
  for (const host of network === "none" ? [] : network)
    if (!host.startsWith("$") && !attempt(() => parseHostRule(host)))
      throw invalidArgument(
        file,
        `octant.rights.network: '${host}' is not a host; write host, host:port or *.host`,
      );
}

function parseJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw invalidArgument(file, cause instanceof Error ? cause.message : String(cause));
  }
}

function parse<S extends z.ZodType>(schema: S, value: unknown, where: string): z.output<S> {
  const { data, error } = schema.safeParse(value);
  if (!error) return data as z.output<S>; // Without an error there is data.
  const issues = error.issues.map(({ path, message }) => ({ path: [where, ...path].join("."), message }));
  const text = issues.map(({ path, message }) => `${path}: ${message}`).join("; ");
  throw new ToolError("INVALID_ARGUMENT", text, { issues });
}

/** The module for `import`, without the conditions of our own build. */
function entryOf(exports: unknown): string | undefined {
  if (typeof exports === "string") return exports;
  if (typeof exports !== "object" || exports === null) return undefined;
  const { ".": main, import: imported, default: fallback } = Object(exports);
  return entryOf(main ?? imported ?? fallback);
}

/** Packs are loaded with the core of this process, so it has to be one that they were written for. */
function checkCore(pack: string, range: string | undefined): void {
  const version = loadVersion();
  if (range === undefined)
    throw invalidArgument(
      "peerDependencies",
      `pack '${pack}' does not say which ${CORE} it was written for; add it to peerDependencies: "^${version}"`,
    );
  if (fits(range, version)) return;
  throw new ToolError(
    "UNSUPPORTED",
    `pack '${pack}' was written for ${CORE} ${range}, and this is ${version}`,
    {
      what: `${CORE} ${range}`,
      how: "install a version of the pack for this Octant, or the Octant that it was written for",
    },
  );
}

/** Whether a version is in a range of npm: exact, `^`, `~`, `>=` or `*`. */
function fits(range: string, version: string): boolean {
  if (range === "*") return true;
  const [, how = "", ...wanted] = /^(\^|~|>=)?(\d+)\.(\d+)\.(\d+)$/.exec(range.trim()) ?? [];
  const [major = -1, minor = 0, patch = 0] = wanted.map(Number);
  const [ownMajor = 0, ownMinor = 0, ownPatch = 0] = version.split(/[.-]/).map(Number);
  const isSame = ownMajor === major && ownMinor === minor;
  if (how === "") return isSame && ownPatch === patch;
  const isLater = ownMinor > minor || (ownMinor === minor && ownPatch >= patch);
  if (how === ">=") return major >= 0 && (ownMajor > major || (ownMajor === major && isLater));
  if (how === "~" || major === 0) return isSame && ownPatch >= patch;
  return ownMajor === major && isLater;
}
