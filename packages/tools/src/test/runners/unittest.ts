import { UNITTEST_RUNNER } from "../reporters/unittest.ts";
import { cannot, type Plan, type Runner } from "../runner.ts";
import { idsOf, isPythonTest, pythonCommand, pythonEnv } from "./python-command.ts";

const SCRIPT = "octant_unittest.py";
/** Since Python 3.12; before that it is 0. */
const NO_TESTS_RAN = 5;

export const unittest: Runner = {
  name: "unittest",
  support: { [SCRIPT]: UNITTEST_RUNNER },
  reads: { from: "events" },
  isTestFile: isPythonTest,
  command(plan) {
    const { scratch, selection } = plan;
    if (plan.coverage)
      throw cannot("unittest", "measure coverage", "run it under coverage.py with proc.exec");
    return { argv: toProgram(plan, `${scratch}/${SCRIPT}`), env: pythonEnv(scratch, selection) };
  },
  hasNoTests: ({ exitCode }) => exitCode === NO_TESTS_RAN,
};

/** `python -m unittest discover` with our script in place of the module. */
function toProgram(plan: Plan, script: string): [string, ...string[]] {
  const { selection } = plan;
  const [program, ...words] = pythonCommand(plan);
  const at = words.indexOf("-m");
  const before = words.slice(0, Math.max(0, at));
  if (selection?.by === "file") return [program, ...before, script, selection.path];
  if (selection?.by === "tests") return [program, ...before, script, ...idsOf(selection)];
  return [program, ...before, script, ...words.slice(at + 2)];
}
