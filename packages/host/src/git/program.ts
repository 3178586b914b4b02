import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { ToolError } from "@octant/core";
import { fromNative, isWithin, type Path } from "../path.ts";

/** The PATH that git gets. What lies in the workspace is nobody's program: `npx` puts node_modules/.bin first. */
export const safePath = (path: string, roots: readonly Path[]): string =>
  path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isInside(roots, folder))
    .join(delimiter);

/** The first `name` on an already safe PATH that is no link into the workspace. */
export function findProgram(name: string, path: string, roots: readonly Path[]): string | undefined {
  return path
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => isExecutable(file) && !isInside(roots, file));
}

function isInside(roots: readonly Path[], path: string): boolean {
  try {
    const real = fromNative(realpathSync.native(path, { encoding: "buffer" }));
    return roots.some((root) => isWithin(root, path) || isWithin(root, real));
  } catch {
    // What is not there now may be made there later.
    return roots.some((root) => isWithin(root, path));
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

export const programMissing = (name: string) =>
  new ToolError(
    "UNSUPPORTED",
    `${name} is not on the PATH (folders of the workspace do not count); install it`,
    {
      what: name,
      how: `install ${name}`,
    },
  );
