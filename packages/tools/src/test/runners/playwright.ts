import { PLAYWRIGHT_REPORTER } from "../reporters/playwright.ts";
import { asArgument, cannot, escapePattern, type Plan, type Runner } from "../runner.ts";
import { eventsEnv, isScriptTest, nodeCommand } from "./node-command.ts";

const REPORTER = "playwright-reporter.mjs";

export const playwright: Runner = {
  name: "playwright",
  support: { [REPORTER]: PLAYWRIGHT_REPORTER },
  reads: { from: "events" },
  isTestFile: isScriptTest,
  command(plan) {
    const { scratch, workers } = plan;
    if (plan.coverage) throw cannot("playwright", "measure coverage", "run it without");
    const args = [
      `--reporter=list,${scratch}/${REPORTER}`,
      "--pass-with-no-tests",
      ...(workers === undefined ? [] : [`--workers=${workers}`]),
      ...selectionArgs(plan),
    ];
    return { ...nodeCommand(plan, "playwright", args), env: eventsEnv(scratch) };
  },
};

function selectionArgs({ selection }: Plan): string[] {
  if (selection === undefined) return [];
  if (selection.by === "name") return [`--grep=${escapePattern(selection.text)}`];
  // Playwright treats files as patterns.
  if (selection.by === "file") return [escapePattern(asArgument(selection.path))];
  return selection.tests.flatMap(({ id }) => (id === undefined ? [] : [id]));
}
