import { ToolError } from "@octant/core";
import { type Confinement, isWithin, type Path } from "@octant/host";
import { inspectPackages } from "../ws/detect/packages.ts";
import { isBelow, joinPath, nameOf, pathBelow } from "../ws/detect/paths.ts";
import { type Survey, survey } from "../ws/detect/survey.ts";
import { createProjectFiles } from "../ws/project-files.ts";
import { ownPath } from "./failure.ts";
import type { TestInput } from "./run.ts";
import { cannot, type Selection } from "./runner.ts";
import { runnerOf } from "./runners/index.ts";
import type { Runs } from "./runs.ts";

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
      for (const [runner, command] of findings.test ?? []) {
        const { isTestFile } = runnerOf(runner);
        suites.push({
          id: freeId(
            [`${name}:${runner}`, `${path || nameOf(root)}:${runner}`, `${name}:${command.join(" ")}`],
            suites,
          ),
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

/** Ids are unique: packages may share a name, and one package may have two commands of a runner. */
function freeId(wanted: readonly string[], suites: readonly Suite[]): string {
  const isFree = (id: string) => !suites.some((other) => other.id === id);
  const [first = "", ...rest] = wanted;
  const found = [first, ...rest].find(isFree);
  if (found !== undefined) return found;
  for (let count = 2; ; count++) if (isFree(`${first} ${count}`)) return `${first} ${count}`;
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
function suitesNamed(suites: readonly Suite[], word: string): Suite[] {
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

/** One suite and the selection of its tests. */
export interface Work {
  readonly suite: Suite;
  readonly selection?: Selection;
}

/** The suites to run, each with its selection. */
export function toWork(
  { suite, filter, last_failed }: TestInput,
  all: readonly Suite[],
  confinement: Confinement,
  lastFailed: (suite: string) => ReturnType<Runs["lastFailed"]>,
): Work[] {
  if (all.length === 0) throw new ToolError("NOT_FOUND", NO_SUITES, {});
  const chosen = suite === undefined ? all : suitesNamed(all, suite);
  if (last_failed) return failedWork(able(chosen, "tests"), lastFailed);
  if (filter === undefined) return chosen.map((one) => ({ suite: one }));
  const file = fileOf(filter, chosen, confinement);
  if (file === undefined)
    return able(chosen, "name").map((one) => ({ suite: one, selection: { by: "name", text: filter } }));
  return able(suitesFor(chosen, file), "file").map((one) => ({
    suite: one,
    selection: { by: "file", path: file.slice(one.folder === "/" ? 1 : one.folder.length + 1) },
  }));
}

/** The suites that support this selection; the others would run all their tests. */
function able(suites: readonly Suite[], by: Selection["by"]): Suite[] {
  const found = suites.filter(({ runner }) => runnerOf(runner).selects?.includes(by) ?? true);
  const [first] = suites;
  if (found.length > 0 || !first) return found;
  throw cannot(first.runner, `be narrowed by ${by}`, "run all of it, or use proc.exec");
}

/** The file that the filter names, relative to a root of the workspace or the folder of a suite. */
function fileOf(filter: string, suites: readonly Suite[], confinement: Confinement): Path | undefined {
  const written = /^file:/i.test(filter) ? confinement.toPath(filter) : filter;
  for (const folder of [...confinement.roots, ...suites.map((one) => one.folder)]) {
    const path = ownPath(written, folder, confinement);
    if (path !== undefined && suites.some((one) => isWithin(one.folder, path) && one.folder !== path))
      return path;
  }
  return undefined;
}

/** The suites around a file that recognise it as a test; all suites when none does. */
function suitesFor(suites: readonly Suite[], file: Path): Suite[] {
  const around = suitesAt(
    suites.filter(({ folder }) => isWithin(folder, file)),
    file,
  );
  const knowing = around.filter(({ folder, files }) => files.some((one) => `${folder}/${one}` === file));
  return knowing.length > 0 ? knowing : around;
}

/** Maximum tests named in one command; with more failures, the whole suite runs. */
const MAX_NAMED_TESTS = 200;

function failedWork(
  suites: readonly Suite[],
  lastFailed: (suite: string) => ReturnType<Runs["lastFailed"]>,
): Work[] {
  const work = suites.flatMap((suite): Work[] => {
    const tests = lastFailed(suite.id) ?? [];
    if (tests.length === 0) return [];
    return [tests.length > MAX_NAMED_TESTS ? { suite } : { suite, selection: { by: "tests", tests } }];
  });
  if (work.length > 0) return work;
  throw new ToolError(
    "NOT_FOUND",
    "no test failed in the last run that reported any; leave last_failed out",
    {},
  );
}
