import { NODE_TEST_REPORTER } from "../reporters/node-test.ts";
import { asArgument, escapePattern, type Runner, selectedBy } from "../runner.ts";
import { eventsEnv, filesOf, isScript, isScriptTest } from "./node.ts";

const REPORTER = "node-test-reporter.mjs";

/** Node accepts no options after the first file, and a script may name some, so ours go into NODE_OPTIONS. */
export const nodeTest: Runner = {
  name: "node:test",
  support: { [REPORTER]: NODE_TEST_REPORTER },
  reads: { from: "events" },
  isTestFile: (path) =>
    isScriptTest(path) || (isScript(path) && /(?:^|\/)(?:test\/|test-[^/]*$|[^/]*[-_]test\.\w+$)/.test(path)),
  command(plan) {
    const { scratch, suite, workers, coverage } = plan;
    const { files = [], patterns = [] } =
      selectedBy<{ files?: string[]; patterns?: string[] }>(plan, {
        name: (text) => ({ patterns: [escapePattern(text)] }),
        file: (path) => ({ files: [asArgument(path)] }),
        tests: (tests) => ({
          files: filesOf(tests),
          patterns: tests.map(({ name }) => `${escapePattern(name)}$`),
        }),
      }) ?? {};
    const options = [
      "--test-reporter=spec",
      "--test-reporter-destination=stdout",
      `--test-reporter=${scratch}/${REPORTER}`,
      `--test-reporter-destination=${scratch}/unused`,
      ...patterns.map((pattern) => `--test-name-pattern=${pattern}`),
    ];
    // A script's own files would stay in effect, and NODE_OPTIONS does not accept every option.
    const own = [
      ...(coverage ? ["--experimental-test-coverage"] : []),
      ...(workers === undefined ? [] : [`--test-concurrency=${workers}`]),
      ...files,
    ];
    const [program = "node", ...rest] = own.length > 0 ? ["node", "--test", ...own] : suite.command;
    return {
      argv: [program, ...rest],
      env: { ...eventsEnv(scratch), NODE_OPTIONS: options.map(quoted).join(" ") },
    };
  },
};

/** Quoted for NODE_OPTIONS: double quotes protect spaces, and a backslash escapes the next character. */
const quoted = (option: string): string => `"${option.replaceAll(/["\\]/g, "\\$&")}"`;
