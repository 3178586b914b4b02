import { PYTEST_PLUGIN, PYTEST_REPORTER } from "../reporters/pytest.ts";
import { asArgument, type Runner } from "../runner.ts";
import { idsOf, isPythonTest, pythonCommand, pythonEnv } from "./python-command.ts";

const NO_TESTS_COLLECTED = 5;

export const pytest: Runner = {
  name: "pytest",
  support: { [`${PYTEST_PLUGIN}.py`]: PYTEST_REPORTER },
  reads: { from: "events" },
  isTestFile: isPythonTest,
  command(plan) {
    const { scratch, selection, coverage } = plan;
    return {
      argv: [
        ...pythonCommand(plan),
        "-p",
        PYTEST_PLUGIN,
        ...(coverage ? ["--cov"] : []),
        ...(selection?.by === "file" ? [asArgument(selection.path)] : idsOf(selection)),
      ],
      env: { ...pythonEnv(scratch, selection), PYTHONPATH: scratch },
    };
  },
  hasNoTests: ({ exitCode }) => exitCode === NO_TESTS_COLLECTED,
  missing({ output }) {
    if (output.includes("No module named pytest")) return "python3 -m pip install pytest";
    return output.includes("unrecognized arguments: --cov") ? "python3 -m pip install pytest-cov" : undefined;
  },
};
