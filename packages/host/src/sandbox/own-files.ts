import { readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";

/** Where Octant is installed, which test runners load reporters from: a node_modules, or the checkout. */
export function installFolder(here = import.meta.dirname): string {
  const installed = here.indexOf(MODULES);
  if (installed >= 0) return here.slice(0, installed + MODULES.length - 1);
  return here.slice(0, here.lastIndexOf("/packages/"));
}

const MODULES = "/node_modules/";

/**
 * Everything that Octant loads code from: its outermost node_modules (pnpm nests them) or its checkout, and Node.
 */
export function ownFiles(here = import.meta.dirname, node = process.execPath): readonly string[] {
  return [...codeFolders(here), realpathSync(node)];
}

function codeFolders(here: string): string[] {
  const checkout = installFolder(here);
  if (here.includes(MODULES)) return [checkout];
  const parts = readdirSync(join(checkout, "packages")).flatMap((name) =>
    ["src", "bin", "dist", "package.json"].map((part) => join(checkout, "packages", name, part)),
  );
  return [join(checkout, "node_modules"), ...parts].filter((path) =>
    statSync(path, { throwIfNoEntry: false }),
  );
}

/**
 * pnpm, Yarn and Bun link files of a package cache into an install, and commands can write to the cache. Only copies are
 * safe from that.
 */
export const sharesFilesWithCache = (file = import.meta.filename): boolean => statSync(file).nlink > 1;
