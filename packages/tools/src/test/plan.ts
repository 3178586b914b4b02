import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { isWithin, type Path } from "@octant/host";
import { ownPath } from "./failure.ts";
import type { TestOptions } from "./options.ts";
import type { Plan, SuiteRequest } from "./runner.ts";
import type { Suite } from "./suites.ts";

/** The input from which a runner builds its command. */
export function toPlan(
  { workspace: { confinement }, env }: TestOptions,
  { suite, selection, workers, coverage }: SuiteRequest,
  scratch: string,
): Plan {
  const nearest = (name: Path) => nearestOf(suite, name, (path) => ownPath(path, suite.folder, confinement));
  return {
    suite,
    selection,
    workers,
    coverage,
    scratch,
    nearest,
    bin: (name) => nearest(`node_modules/.bin/${name}`),
    onPath: (program) =>
      (env["PATH"] ?? "").split(":").some((folder) => isProgram(join(folder || ".", program))),
  };
}

function nearestOf(suite: Suite, name: Path, find: (path: Path) => Path | undefined): Path | undefined {
  let folder = suite.folder;
  while (isWithin(suite.root, folder)) {
    const found = find(`${folder === "/" ? "" : folder}/${name}`);
    if (found !== undefined || folder === "/") return found;
    folder = folder.slice(0, folder.lastIndexOf("/")) || "/";
  }
  return undefined;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
