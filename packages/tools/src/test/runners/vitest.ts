import { VITEST_REPORTER } from "../reporters/vitest.ts";
import { asArgument, escapePattern, type Plan, type Runner } from "../runner.ts";
import { filesOf, fullNamePattern } from "./full-name-pattern.ts";
import { eventsEnv, isScriptTest, nodeCommand } from "./node-command.ts";

const REPORTER = "vitest-reporter.mjs";

export const vitest: Runner = {
  name: "vitest",
  support: { [REPORTER]: VITEST_REPORTER },
  reads: { from: "events" },
  isTestFile: isScriptTest,
  command(plan) {
    const { scratch, workers, coverage } = plan;
    const args = [
      "--watch=false",
      "--reporter=default",
      `--reporter=${scratch}/${REPORTER}`,
      "--passWithNoTests",
      ...(workers === undefined ? [] : [`--maxWorkers=${workers}`]),
      ...(coverage ? ["--coverage"] : []),
      ...selectionArgs(plan),
    ];
    return { ...nodeCommand(plan, "vitest", args), env: eventsEnv(scratch) };
  },
};

function selectionArgs({ selection }: Plan): string[] {
  if (selection === undefined) return [];
  if (selection.by === "name") return [`--testNamePattern=${escapePattern(selection.text)}`];
  if (selection.by === "file") return [asArgument(selection.path)];
  return [`--testNamePattern=${fullNamePattern(selection.tests)}`, ...filesOf(selection.tests)];
}
