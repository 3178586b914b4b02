import { ToolError } from "@octant/core";
import { type Confinement, isWithin, type Path } from "@octant/host";
import { ownPath } from "./failure.ts";
import type { TestInput } from "./run.ts";
import { cannot, type Selection } from "./runner.ts";
import { runnerOf } from "./runners/index.ts";
import type { Runs } from "./runs.ts";
import { NO_SUITES, type Suite, suitesAt, suitesNamed } from "./suites.ts";

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

/** Of the suites around a file those that recognise it as a test; all of them when none does. */
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
  throw new ToolError("NOT_FOUND", "nothing failed when this was last run; leave last_failed out", {});
}
