import { ToolError } from "@octant/core";
import { type Confinement, isWithin, type Path } from "@octant/host";
import { inspectPackages } from "../ws/detect/packages.ts";
import { isBelow, joinPath, nameOf, pathBelow } from "../ws/detect/paths.ts";
import { type Survey, survey } from "../ws/detect/survey.ts";
import { createProjectFiles } from "../ws/project-files.ts";
import { runnerOf } from "./runners/index.ts";

/** The tests of one package that one runner runs. */
export interface Suite {
  /** `package:runner`. */
  readonly id: string;
  readonly package: string;
  readonly runner: string;
  /** The command by which ws.detect would run all of it. */
  readonly command: readonly string[];
  readonly folder: Path;
  /** The workspace root that contains it. */
  readonly root: Path;
  /** Files that look like tests, relative to its folder. */
  readonly files: readonly Path[];
}

/** Every suite of the workspace, those of the roots first. */
export async function findSuites(confinement: Confinement, signal: AbortSignal): Promise<Suite[]> {
  const suites: Suite[] = [];
  for (const root of confinement.roots) {
    const files = createProjectFiles(confinement, root);
    const surveyed = await survey(files, "", signal);
    const { inspections } = await inspectPackages(surveyed, files, signal);
    const tested = inspections.filter(({ findings }) => (findings.test ?? []).length > 0);
    const paths = [...new Set(tested.map(({ path }) => path))];
    for (const { path, findings } of tested) {
      const name = findings.name ?? nameOf(path === "" ? root : path);
      const folder = path === "" ? root : joinPath(root === "/" ? "" : root, path);
      const own = filesOf(surveyed, path, paths);
      for (const { runner, command } of findings.test ?? []) {
        const { isTestFile } = runnerOf(runner);
        suites.push({
          id: `${name}:${runner}`,
          package: name,
          runner,
          command,
          folder,
          root,
          files: own.filter(isTestFile),
        });
      }
    }
  }
  return suites;
}

/** The files of a package, without those of nested packages that have their own tests. */
function filesOf({ folders }: Survey, path: Path, tested: readonly Path[]): Path[] {
  const inner = tested.filter((other) => isBelow(path, other));
  return folders
    .filter((folder) => folder.path === path || isBelow(path, folder.path))
    .filter((folder) => !inner.some((other) => other === folder.path || isBelow(other, folder.path)))
    .flatMap((folder) => folder.files.map((name) => pathBelow(path, joinPath(folder.path, name))));
}

/** The suites in a folder; for a file, or a folder without any, those of the innermost enclosing package. */
export function suitesAt(suites: readonly Suite[], path: Path): Suite[] {
  const inside = suites.filter(({ folder }) => isWithin(path, folder));
  if (inside.length > 0) return inside;
  const around = suites.filter(({ folder }) => isWithin(folder, path));
  const innermost = Math.max(...around.map(({ folder }) => folder.length));
  return around.filter(({ folder }) => folder.length === innermost);
}

/** The suites that a name selects: a suite's id, a package, a runner, or a package's folder. */
export function suitesNamed(suites: readonly Suite[], word: string): Suite[] {
  const path = word.replace(/\/+$/, "");
  const named = suites.filter(
    ({ id, package: name, runner, folder, root }) =>
      id === word || name === word || runner === word || folder === path || folder === `${root}/${path}`,
  );
  if (named.length > 0) return named;
  const known = suites.slice(0, MAX_NAMED).map(({ id }) => id);
  const message = known.length > 0 ? `no suite '${word}'; there are ${known.join(", ")}` : NO_SUITES;
  throw new ToolError("NOT_FOUND", message, { id: word });
}

const MAX_NAMED = 20;
export const NO_SUITES = "no tests were found in this workspace; proc.exec runs any command";
