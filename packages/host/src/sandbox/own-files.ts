import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** Where Octant is installed, which test runners load reporters from. */
export const installFolder = (): string => findInstall(import.meta.dirname).folder;

const MODULES = "/node_modules/";

interface Install {
  /** A bundle is our package alone, with its node_modules inside. */
  readonly kind: "node_modules" | "checkout" | "bundle";
  readonly folder: string;
}

function findInstall(here: string): Install {
  const installed = here.indexOf(MODULES);
  if (installed >= 0) return { kind: "node_modules", folder: here.slice(0, installed + MODULES.length - 1) };
  const own = packageAround(here);
  // Only a checkout has sources.
  if (existsSync(join(own, "src"))) return { kind: "checkout", folder: join(own, "../..") };
  return { kind: "bundle", folder: own };
}

function packageAround(here: string): string {
  for (let folder = here; folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, "package.json"))) return folder;
  throw new Error(`the package.json of our package is missing above ${here}`);
}

/**
 * Everything that Octant loads code from: its outermost node_modules (pnpm nests them), its checkout or its bundle,
 * and Node.
 */
export const ownFiles = (): readonly string[] => [...codeFolders(), realpathSync(process.execPath)];

function codeFolders(): string[] {
  const { kind, folder } = findInstall(import.meta.dirname);
  if (kind !== "checkout") return [folder];
  const parts = readdirSync(join(folder, "packages")).flatMap((name) =>
    ["src", "bin", "dist", "package.json"].map((part) => join(folder, "packages", name, part)),
  );
  return [join(folder, "node_modules"), ...parts].filter((path) => statSync(path, { throwIfNoEntry: false }));
}

/**
 * pnpm, Yarn and Bun link files of a package cache into an install, and commands can write to the cache. Only copies are
 * safe from that.
 */
export const sharesFilesWithCache = (): boolean => statSync(import.meta.filename).nlink > 1;
