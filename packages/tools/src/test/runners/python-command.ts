import { FILTER_VARIABLE } from "../reporters/python-tell.ts";
import type { Plan, Selection } from "../runner.ts";
import { eventsEnv } from "./node-command.ts";

/** The words of the suite's command, with the Python that the project has: its own environment's, else the system's. */
export function pythonCommand({ suite, nearest, onPath }: Plan): [string, ...string[]] {
  const [program = "python", ...rest] = suite.command;
  if (program !== "python") return [program, ...rest];
  const own = nearest(".venv/bin/python") ?? nearest("venv/bin/python");
  return [own ?? (onPath("python3") ? "python3" : "python"), ...rest];
}

/** Names are chosen by our reporter, by plain text: pytest's and unittest's own filters have languages of their own. */
export const pythonEnv = (scratch: string, selection: Selection | undefined): Record<string, string> => ({
  ...eventsEnv(scratch),
  ...(selection?.by === "name" && { [FILTER_VARIABLE]: selection.text }),
});

export const idsOf = (selection: Selection | undefined): string[] =>
  selection?.by === "tests" ? selection.tests.flatMap(({ id }) => (id === undefined ? [] : [id])) : [];

export const isPythonTest = (path: string): boolean =>
  /(?:^|\/)(?:test_[^/]*|[^/]*_test|tests)\.py$/.test(path);
