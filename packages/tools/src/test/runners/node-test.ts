import { NODE_TEST_REPORTER } from "../reporters/node-test.ts";
import { asArgument, escapePattern, type Plan, type Runner, type Selection } from "../runner.ts";
import { filesOf } from "./full-name-pattern.ts";
import { eventsEnv, isScript, isScriptTest } from "./node-command.ts";

const REPORTER = "node-test-reporter.mjs";

/** Node accepts no options after the first file, and a script may name some, so ours go into NODE_OPTIONS. */
export const nodeTest: Runner = {
  name: "node:test",
  support: { [REPORTER]: NODE_TEST_REPORTER },
  reads: { from: "events" },
  isTestFile: (path) =>
    isScriptTest(path) || (isScript(path) && /(?:^|\/)(?:test\/|test-[^/]*$|[^/]*[-_]test\.\w+$)/.test(path)),
  command(plan) {
    const { scratch } = plan;
    const options = [
      "--test-reporter=spec",
      "--test-reporter-destination=stdout",
      `--test-reporter=${scratch}/${REPORTER}`,
      `--test-reporter-destination=${scratch}/unused`,
      ...namePatterns(plan),
    ];
    return {
      argv: toProgram(plan),
      env: { ...eventsEnv(scratch), NODE_OPTIONS: options.map(quoted).join(" ") },
    };
  },
};

/** A script's own files would stay in effect, and NODE_OPTIONS does not accept every option. */
function toProgram({ suite, selection, workers, coverage }: Plan): [string, ...string[]] {
  const own = [
    ...(coverage ? ["--experimental-test-coverage"] : []),
    ...(workers === undefined ? [] : [`--test-concurrency=${workers}`]),
    ...selectedFiles(selection),
  ];
  if (own.length > 0) return ["node", "--test", ...own];
  const [program = "node", ...rest] = suite.command;
  return [program, ...rest];
}

function selectedFiles(selection: Selection | undefined): string[] {
  if (selection?.by === "file") return [asArgument(selection.path)];
  return selection?.by === "tests" ? filesOf(selection.tests) : [];
}

function namePatterns({ selection }: Plan): string[] {
  if (selection?.by === "name") return [`--test-name-pattern=${escapePattern(selection.text)}`];
  if (selection?.by !== "tests") return [];
  return selection.tests.map(({ name }) => `--test-name-pattern=${escapePattern(name)}$`);
}

/** Quoted for NODE_OPTIONS: double quotes protect spaces, and a backslash escapes the next character. */
const quoted = (option: string): string => `"${option.replaceAll(/["\\]/g, "\\$&")}"`;
