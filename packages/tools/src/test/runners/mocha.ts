import { MOCHA_REPORTER } from "../reporters/mocha.ts";
import { asArgument, cannot, type Plan, type Runner } from "../runner.ts";
import { fullNamePattern } from "./full-name-pattern.ts";
import { eventsEnv, isScript, isScriptTest, nodeCommand } from "./node-command.ts";

const REPORTER = "mocha-reporter.cjs";

export const mocha: Runner = {
  name: "mocha",
  support: { [REPORTER]: MOCHA_REPORTER },
  reads: { from: "events" },
  isTestFile: (path) => isScriptTest(path) || (isScript(path) && path.startsWith("test/")),
  command(plan) {
    const { scratch, workers } = plan;
    if (plan.coverage) throw cannot("mocha", "measure coverage", "run it under c8 with proc.exec");
    const args = [
      `--reporter=${scratch}/${REPORTER}`,
      ...(workers === undefined || workers === 1 ? [] : ["--parallel", `--jobs=${workers}`]),
      ...selectionArgs(plan),
    ];
    return { ...nodeCommand(plan, "mocha", args), env: eventsEnv(scratch) };
  },
  hasNoTests: ({ output }) => output.includes("No test files found"),
};

function selectionArgs({ selection }: Plan): string[] {
  if (selection === undefined) return [];
  if (selection.by === "name") return [`--fgrep=${selection.text}`];
  if (selection.by === "file") return [asArgument(selection.path)];
  return [`--grep=^${fullNamePattern(selection.tests)}`];
}
