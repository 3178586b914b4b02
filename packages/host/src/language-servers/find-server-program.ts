import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { attempt } from "@octant/core";
import { isWithin, type Path } from "../path.ts";
import { findOnPath, isProgram } from "../programs/trusted-program.ts";
import { readRegularFile } from "../regular-file.ts";
import type { ProgramPlace } from "./catalog.ts";

export interface FoundProgram {
  readonly argv: readonly [string, ...string[]];
  /** From its package, if it has one. */
  readonly version?: string;
  /** For a person. */
  readonly where: string;
  /** It comes with the project, so it is as trustworthy as that. */
  readonly isOfProject: boolean;
}

export interface Surroundings {
  readonly root: Path;
  /** All of the workspace: a program in any of them is the project's own. */
  readonly roots: readonly Path[];
  /** Whose PATH counts. */
  readonly env: NodeJS.ProcessEnv;
  /** Where bundled packages are searched; null for none. */
  readonly bundledFrom: string | null;
}

const FIRST_NATIVE_TYPESCRIPT = 7;
const MAX_MANIFEST_BYTES = 1024 * 1024;

/** Finds the program; whether it works is another question. */
export function findServerProgram(place: ProgramPlace, around: Surroundings): FoundProgram | undefined {
  if (place.kind === "path") {
    const program = findOnPath(place.program, around.env["PATH"]);
    if (program === undefined) return undefined;
    return { argv: [program], where: program, isOfProject: isOfProject(program, around) };
  }
  const manifest = manifestOf(place.kind === "module" ? place.package : "typescript", place.from, around);
  const version = manifest && loadVersion(manifest);
  if (!manifest || !version) return undefined;
  const found = { version, isOfProject: place.from === "project" };
  if (place.kind === "module") {
    const program = join(dirname(manifest), place.file);
    if (!existsSync(program)) return undefined;
    return { argv: [process.execPath, program], where: program, ...found };
  }
  if (Number.parseInt(version, 10) < FIRST_NATIVE_TYPESCRIPT) return undefined;
  // Started without the script around it, which would be a second process that does nothing.
  const name = `@typescript/typescript-${process.platform}-${process.arch}/package.json`;
  const native = findAbove(dirname(manifest), join("node_modules", name));
  const program = native && join(dirname(native), "lib", "tsc");
  return program && isProgram(program) ? { argv: [program], where: program, ...found } : undefined;
}

/** The major version of the project's own TypeScript; a package of a monorepo has it in a folder above. */
export function majorTypeScriptOf(root: Path): number | undefined {
  for (let folder = root; ; folder = dirname(folder)) {
    const version = loadVersion(join(folder, "node_modules", "typescript", "package.json"));
    if (version !== undefined) return Number.parseInt(version, 10);
    if (folder === dirname(folder)) return undefined;
  }
}

function manifestOf(name: string, from: "project" | "bundled", around: Surroundings): string | undefined {
  if (from === "project") {
    const manifest = join(around.root, "node_modules", name, "package.json");
    // For linked packages, the dependencies are next to the real one.
    return existsSync(manifest) ? realpathSync(manifest) : undefined;
  }
  return around.bundledFrom === null ? undefined : resolveFrom(around.bundledFrom, `${name}/package.json`);
}

const resolveFrom = (file: string, name: string): string | undefined =>
  attempt(() => createRequire(file).resolve(name));

/** Node's own search would read every manifest on its way, and wait for one that is a pipe. */
function findAbove(folder: string, name: string): string | undefined {
  const path = join(folder, name);
  if (existsSync(path)) return path;
  return folder === dirname(folder) ? undefined : findAbove(dirname(folder), name);
}

/** The content of a manifest is untrusted. */
function loadVersion(manifest: string): string | undefined {
  try {
    const { version }: { version?: unknown } = JSON.parse(
      readRegularFile(manifest, MAX_MANIFEST_BYTES)?.toString() ?? "",
    );
    return typeof version === "string" ? version : undefined;
  } catch {
    return undefined;
  }
}

const isOfProject = (program: string, { roots }: Surroundings): boolean =>
  [program, realpathSync(program)].some(
    (path) => path.split("/").includes("node_modules") || roots.some((root) => isWithin(root, path)),
  );
