import { JEST_REPORTER } from "../reporters/jest.ts";
import { asArgument, escapePattern, type Plan, type Runner } from "../runner.ts";
import { filesOf, fullNamePattern } from "./full-name-pattern.ts";
import { eventsEnv, isScriptTest, nodeCommand } from "./node-command.ts";

const REPORTER = "jest-reporter.cjs";

export const jest: Runner = {
  name: "jest",
  support: { [REPORTER]: JEST_REPORTER },
  reads: { from: "events" },
  isTestFile: isScriptTest,
  command(plan) {
    const { scratch, workers, coverage } = plan;
    const args = [
      "--reporters=default",
      `--reporters=${scratch}/${REPORTER}`,
      "--passWithNoTests",
      ...(workers === undefined ? [] : [`--maxWorkers=${workers}`]),
      ...(coverage ? ["--coverage"] : []),
      ...selectionArgs(plan),
    ];
    return { ...nodeCommand(plan, "jest", args), env: eventsEnv(scratch) };
  },
};

function selectionArgs({ selection }: Plan): string[] {
  if (selection === undefined) return [];
  if (selection.by === "name") return [`--testNamePattern=${escapePattern(selection.text)}`];
  if (selection.by === "file") return ["--runTestsByPath", asArgument(selection.path)];
  const pattern = `--testNamePattern=${fullNamePattern(selection.tests)}`;
  return [pattern, "--runTestsByPath", ...filesOf(selection.tests)];
}
