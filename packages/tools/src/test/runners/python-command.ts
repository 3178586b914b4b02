import { FILTER_VARIABLE } from "../reporters/python-events.ts";
import type { Plan, Selection } from "../runner.ts";
import { eventsEnv } from "./node-command.ts";

/** The suite's command with the project's Python: its virtual environment's, otherwise the system's. */
export function pythonCommand({ suite, nearest, onPath }: Plan): [string, ...string[]] {
  const [program = "python", ...rest] = suite.command;
  if (program !== "python") return [program, ...rest];
  const own = nearest(".venv/bin/python") ?? nearest("venv/bin/python");
  return [own ?? (onPath("python3") ? "python3" : "python"), ...rest];
}

/** Our reporter selects names by plain text, because the filters of pytest and unittest have their own syntax. */
export const pythonEnv = (scratch: string, selection: Selection | undefined): Record<string, string> => ({
  ...eventsEnv(scratch),
  ...(selection?.by === "name" && { [FILTER_VARIABLE]: selection.text }),
});

export const idsOf = (selection: Selection | undefined): string[] =>
  selection?.by === "tests" ? selection.tests.flatMap(({ id }) => (id === undefined ? [] : [id])) : [];

export const isPythonTest = (path: string): boolean =>
  /(?:^|\/)(?:test_[^/]*|[^/]*_test|tests)\.py$/.test(path);
