import { FILTER_VARIABLE, PYTEST_PLUGIN, PYTEST_REPORTER, UNITTEST_RUNNER } from "../reporters/python.ts";
import { asArgument, cannot, idsOf, notInstalled, type Plan, type Runner, selectedBy } from "../runner.ts";
import { eventsEnv } from "./node.ts";

/** Of pytest, and of unittest since Python 3.12; before that it is 0. */
const NO_TESTS = 5;

const common: Pick<Runner, "reads" | "isTestFile" | "hasNoTests"> = {
  reads: { from: "events" },
  isTestFile: (path) => /(?:^|\/)(?:test_[^/]*|[^/]*_test|tests)\.py$/.test(path),
  hasNoTests: ({ exitCode }) => exitCode === NO_TESTS,
};

export const pytest: Runner = {
  ...common,
  name: "pytest",
  support: { [`${PYTEST_PLUGIN}.py`]: PYTEST_REPORTER },
  command(plan) {
    const selected = selectedBy(plan, { name: () => [], file: (path) => [asArgument(path)], tests: idsOf });
    const coverage = plan.coverage ? ["--cov"] : [];
    return {
      argv: [...pythonCommand(plan), "-p", PYTEST_PLUGIN, ...coverage, ...(selected ?? [])],
      env: { ...pythonEnv(plan), PYTHONPATH: plan.scratch },
    };
  },
  refusal({ output }) {
    if (output.includes("No module named pytest"))
      return notInstalled("pytest", "python3 -m pip install pytest");
    if (output.includes("unrecognized arguments: --cov"))
      return notInstalled("pytest-cov", "python3 -m pip install pytest-cov");
    return undefined;
  },
};

const SCRIPT = "octant_unittest.py";

export const unittest: Runner = {
  ...common,
  name: "unittest",
  support: { [SCRIPT]: UNITTEST_RUNNER },
  command(plan) {
    if (plan.coverage)
      throw cannot("unittest", "measure coverage", "run it under coverage.py with proc.exec");
    // `python -m unittest discover` with our script in place of the module.
    const [program, ...words] = pythonCommand(plan);
    const at = words.indexOf("-m");
    const all = words.slice(at + 2);
    const selected = selectedBy(plan, { name: () => all, file: (path) => [path], tests: idsOf });
    return {
      argv: [program, ...words.slice(0, Math.max(0, at)), `${plan.scratch}/${SCRIPT}`, ...(selected ?? all)],
      env: pythonEnv(plan),
    };
  },
};

/**
 * The suite's command with the project's Python: its virtual environment's, otherwise the system's. `uv run` and the
 * like are left out when the program is missing and the environment that it made is there.
 */
function pythonCommand({ suite, nearest, onPath }: Plan): [string, ...string[]] {
  const [program = "python", ...words] = suite.command;
  const own = nearest(".venv/bin/python") ?? nearest("venv/bin/python");
  const isReplaced = own !== undefined && words[0] === "run" && !onPath(program);
  if (program !== "python" && !isReplaced) return [program, ...words];
  const rest = isReplaced ? words.slice(words.indexOf("python") + 1) : words;
  return [own ?? (onPath("python3") ? "python3" : "python"), ...rest];
}

/** Our reporter selects names by plain text, because the filters of pytest and unittest have their own syntax. */
const pythonEnv = ({ scratch, selection }: Plan): Record<string, string> => ({
  ...eventsEnv(scratch),
  ...(selection?.by === "name" && { [FILTER_VARIABLE]: selection.text }),
});
