import { shellQuote } from "@octant/host";
import { NODE_TEST_REPORTER } from "../reporters/node-test.ts";
import {
  asArgument,
  cannot,
  escapePattern,
  type Invocation,
  type Plan,
  type Runner,
  selectedBy,
} from "../runner.ts";
import { withoutFiles } from "../script.ts";
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
    const reporters = [
      "--test-reporter=spec",
      "--test-reporter-destination=stdout",
      `--test-reporter=${scratch}/${REPORTER}`,
      `--test-reporter-destination=${scratch}/unused`,
    ];
    const named = patterns.map((pattern) => `--test-name-pattern=${pattern}`);
    // NODE_OPTIONS does not accept these in every version.
    const own = [
      ...(coverage ? ["--experimental-test-coverage"] : []),
      ...(workers === undefined ? [] : [`--test-concurrency=${workers}`]),
    ];
    const env = (options: readonly string[]) => ({
      ...eventsEnv(scratch),
      NODE_OPTIONS: options.map(quoted).join(" "),
    });
    const direct = directCommand(plan, [...own, ...named], files);
    if (direct) return { ...direct, env: { ...direct.env, ...env(reporters) } };
    const [program = "node", ...rest] =
      own.length + files.length > 0 ? ["node", "--test", ...own, ...files] : suite.command;
    return { argv: [program, ...rest], env: env([...reporters, ...named]) };
  },
  refusal: ({ output }) =>
    output.includes("--test-name-pattern= is not allowed in NODE_OPTIONS")
      ? cannot("this Node's node:test", "be narrowed by name behind a script", "use Node 22, or proc.exec")
      : undefined,
};

/** A script that only calls `node --test`, with our options, and with our files instead of its own. */
function directCommand(
  { script, isFile }: Plan,
  options: readonly string[],
  files: readonly string[],
): Pick<Invocation, "argv" | "env"> | undefined {
  if (script?.words[0] !== "node" || options.length + files.length === 0) return undefined;
  const [, ...given] = script.words;
  if (files.length > 0)
    return { argv: ["node", ...options, ...withoutFiles(given, isFile), ...files], env: script.env };
  // Through the shell, which expands the script's globs.
  const ours = options.map(shellQuote).join(" ");
  return { argv: ["sh", "-c", script.text.replace(/(^|\s)node\s/, (node) => `${node}${ours} `)] };
}

/** Quoted for NODE_OPTIONS: double quotes protect spaces, and a backslash escapes the next character. */
const quoted = (option: string): string => `"${option.replaceAll(/["\\]/g, "\\$&")}"`;
