import { posix } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { ToolError } from "@octant/core";
import { type Confinement, isWithin, type Path, pathToUri } from "@octant/host";
import type { Breakage, Place, Problem } from "./case.ts";
import { placesIn } from "./parsers/stack.ts";
import type { Failure } from "./result.ts";
import type { FailedTest } from "./tally.ts";

const MAX_NAME_CHARS = 500;
const MAX_SUITES = 20;
const MAX_MESSAGE_CHARS = 4_000;
const MAX_STACK_CHARS = 4_000;
const MAX_VALUE_CHARS = 2_000;
/** No file has more lines; a larger number is not a line. */
const MAX_LINE = 2 ** 31;

/** A failure as reported to the caller, with project paths as uris. */
export function toFailure(failed: Breakage | FailedTest, folder: Path, confinement: Confinement): Failure {
  const { problem } = failed;
  const suite = "suite" in failed ? failed.suite : [];
  const stack = problem.stack && bounded(ownFrames(problem.stack), MAX_STACK_CHARS);
  const message = bounded(problem.message, MAX_MESSAGE_CHARS);
  return {
    // A file that failed to load is named by its path.
    name: bounded(failed.name.replace(`${folder}/`, ""), MAX_NAME_CHARS),
    ...(suite.length > 0 && {
      suite: suite.slice(0, MAX_SUITES).map((name) => bounded(name, MAX_NAME_CHARS)),
    }),
    message,
    ...locate(failed.file, problem, folder, confinement),
    ...differing(problem),
    ...(stack && stack !== message && { stack }),
  };
}

/** Two values that look equal are omitted. */
function differing({ expected, actual }: Problem): Pick<Failure, "expected" | "actual"> {
  if (expected === actual) return {};
  return {
    ...(expected !== undefined && { expected: bounded(expected, MAX_VALUE_CHARS) }),
    ...(actual !== undefined && { actual: bounded(actual, MAX_VALUE_CHARS) }),
  };
}

/** Without the frames of runners and of Node itself. */
const ownFrames = (stack: string): string =>
  stack
    .split("\n")
    .filter((line) => !/^\s+at .*(?:\/node_modules\/|[( ]node:)/.test(line))
    .join("\n");

const bounded = (text: string, max: number): string => {
  const plain = stripVTControlCharacters(text);
  return plain.length <= max ? plain : `${plain.slice(0, max).toWellFormed()}…`;
};

/** The innermost place in the project's own code; else only the file that the test is in. */
function locate(
  file: string | undefined,
  { at, stack = "" }: Problem,
  folder: Path,
  confinement: Confinement,
): Pick<Failure, "uri" | "range"> {
  const places = [...(at ? [at] : []), ...placesIn(stripVTControlCharacters(stack))];
  for (const place of places) {
    const path = ownPath(place.file, folder, confinement);
    if (path !== undefined && !/\/(?:node_modules|site-packages)\//.test(path))
      return { uri: pathToUri(path), range: toRange(place) };
  }
  const path = file === undefined ? undefined : ownPath(file, folder, confinement);
  return path === undefined ? {} : { uri: pathToUri(path) };
}

/** From a place to the end of its line. */
function toRange({ line, col = 1 }: Place): Failure["range"] {
  if (!Number.isInteger(line) || line < 1 || line > MAX_LINE) return undefined;
  const start = { line: line - 1, col: Number.isInteger(col) && col > 0 ? col - 1 : 0 };
  return { start, end: { line, col: 0 } };
}

/** The path of a file of the workspace; undefined for a file outside the workspace or one that does not exist. */
export function ownPath(file: string, folder: Path, confinement: Confinement): Path | undefined {
  const path = posix.resolve(folder, file);
  if (file.includes("\0") || !confinement.roots.some((root) => isWithin(root, path))) return undefined;
  try {
    using entry = confinement.openEntry(path);
    return entry.path;
  } catch (cause) {
    if (cause instanceof ToolError) return undefined;
    throw cause;
  }
}
