import { createTapParser } from "../parsers/tap.ts";
import {
  EVENTS_VARIABLE,
  JEST_REPORTER,
  MOCHA_REPORTER,
  PLAYWRIGHT_REPORTER,
  VITEST_REPORTER,
} from "../reporters/node.ts";
import {
  asArgument,
  cannot,
  escapePattern,
  type Invocation,
  idsOf,
  type KnownTest,
  notInstalled,
  type Plan,
  type Runner,
  type SelectBy,
  selectedBy,
} from "../runner.ts";
import { withoutFiles } from "../script.ts";

interface NodeRunner extends Pick<Runner, "name" | "hasNoTests"> {
  readonly isTestFile?: Runner["isTestFile"];
  /** The name and source of our reporter. */
  readonly reporter: readonly [file: string, source: string];
  readonly args: (reporter: string) => readonly string[];
  readonly workers: (count: number) => readonly string[];
  /** Its option, or what to do instead. */
  readonly coverage: readonly string[] | string;
  readonly select: SelectBy<readonly string[]>;
  /** The word before its arguments. */
  readonly verb?: string;
}

/** Runners that load our reporter by an option. */
const RUNNERS: readonly NodeRunner[] = [
  {
    name: "vitest",
    verb: "run",
    reporter: ["vitest-reporter.mjs", VITEST_REPORTER],
    args: (reporter) => [
      "--watch=false",
      "--reporter=default",
      `--reporter=${reporter}`,
      "--passWithNoTests",
    ],
    workers: (count) => [`--maxWorkers=${count}`],
    coverage: ["--coverage"],
    select: {
      name: (text) => [`--testNamePattern=${escapePattern(text)}`],
      file: (path) => [asArgument(path)],
      tests: (tests) => [`--testNamePattern=${fullNamePattern(tests)}`, ...filesOf(tests)],
    },
  },
  {
    name: "jest",
    reporter: ["jest-reporter.cjs", JEST_REPORTER],
    args: (reporter) => ["--reporters=default", `--reporters=${reporter}`, "--passWithNoTests"],
    workers: (count) => [`--maxWorkers=${count}`],
    coverage: ["--coverage"],
    select: {
      name: (text) => [`--testNamePattern=${escapePattern(text)}`],
      file: (path) => ["--runTestsByPath", asArgument(path)],
      tests: (tests) => [
        `--testNamePattern=${fullNamePattern(tests)}`,
        "--runTestsByPath",
        ...filesOf(tests),
      ],
    },
  },
  {
    name: "mocha",
    reporter: ["mocha-reporter.cjs", MOCHA_REPORTER],
    isTestFile: (path) => isScriptTest(path) || (isScript(path) && path.startsWith("test/")),
    args: (reporter) => [`--reporter=${reporter}`],
    workers: (count) => (count === 1 ? [] : ["--parallel", `--jobs=${count}`]),
    coverage: "run it under c8 with proc.exec",
    select: {
      name: (text) => [`--fgrep=${text}`],
      file: (path) => [asArgument(path)],
      tests: (tests) => [`--grep=^${fullNamePattern(tests)}`],
    },
    hasNoTests: ({ output }) => output.includes("No test files found"),
  },
  {
    name: "playwright",
    verb: "test",
    reporter: ["playwright-reporter.mjs", PLAYWRIGHT_REPORTER],
    args: (reporter) => [`--reporter=list,${reporter}`, "--pass-with-no-tests"],
    workers: (count) => [`--workers=${count}`],
    coverage: "run it without",
    select: {
      name: (text) => [`--grep=${escapePattern(text)}`],
      // Playwright treats files as patterns.
      file: (path) => [escapePattern(asArgument(path))],
      tests: idsOf,
    },
  },
];

const toRunner = ({ reporter: [file, source], ...runner }: NodeRunner): Runner => ({
  isTestFile: isScriptTest,
  ...runner,
  support: { [file]: source },
  reads: { from: "events" },
  command(plan) {
    const { scratch, workers } = plan;
    const { name, coverage } = runner;
    if (plan.coverage && typeof coverage === "string") throw cannot(name, "measure coverage", coverage);
    const args = [
      ...runner.args(`${scratch}/${file}`),
      ...(workers === undefined ? [] : runner.workers(workers)),
      ...(plan.coverage ? coverage : []),
      ...(selectedBy(plan, runner.select) ?? []),
    ];
    const { argv, env } = nodeCommand(plan, runner, args);
    return { argv, env: { ...env, ...eventsEnv(scratch) } };
  },
});

/** Runners that print TAP on request. */
const tapRunner = (name: string, flag: string): Runner => ({
  name,
  reads: { from: "stdout", parser: () => createTapParser },
  isTestFile: isScriptTest,
  selects: ["file"],
  command(plan) {
    const { selection } = plan;
    if (plan.coverage) throw cannot(name, "measure coverage", "run it without");
    const files = selection?.by === "file" ? [asArgument(selection.path)] : [];
    return nodeCommand(plan, { name }, [flag, ...files]);
  },
});

export const nodeRunners: readonly Runner[] = [
  ...RUNNERS.map(toRunner),
  tapRunner("ava", "--tap"),
  tapRunner("tap", "--reporter=tap"),
];

/** The suite's own command followed by our arguments; a script of package.json passes them on. */
function nodeCommand(
  plan: Plan,
  { name: program, verb: ownVerb }: Pick<NodeRunner, "name" | "verb">,
  args: readonly string[],
): Invocation {
  const { command } = plan.suite;
  const installed = plan.nearest(`node_modules/.bin/${program}`);
  // With Plug'n'Play there is no node_modules; the package manager resolves programs.
  if (installed === undefined && plan.nearest(".pnp.cjs") === undefined)
    throw notInstalled(
      program,
      `install the packages first, as in "${command[0] === "npx" ? "npm" : command[0]} install"`,
    );
  const narrowed = installed !== undefined && narrowScript(plan, program, ownVerb);
  if (narrowed) return { argv: [installed, ...narrowed.words, ...args], env: narrowed.env };
  const [manager = program, verb, ...rest] = command;
  if (manager === "npm" && verb === "run") return { argv: [manager, verb, ...rest, "--", ...args] };
  // An installed runner is run without the project's package manager, because bun or pnpm may be missing.
  const runsScript = verb === "run" && (installed === undefined || plan.onPath(manager));
  if (runsScript || installed === undefined) return { argv: [manager, ...command.slice(1), ...args] };
  // Started directly: npx would download a missing program.
  return {
    argv: [installed, ...(verb === "run" ? [] : command.slice(command.indexOf(program) + 1)), ...args],
  };
}

/**
 * The arguments of a script that names files of its own, without them: a file that is added to them would not narrow the
 * run. undefined when the script names none or is not one call of the runner.
 */
function narrowScript({ selection, script, isFile }: Plan, program: string, verb: string | undefined) {
  if (selection?.by !== "file" || !script) return undefined;
  const [first, ...rest] = script.words[0] === "npx" ? script.words.slice(1) : script.words;
  if (first !== program) return undefined;
  const hasVerb = rest[0] === verb;
  const given = hasVerb ? rest.slice(1) : rest;
  const words = withoutFiles(given, isFile);
  if (words.length === given.length) return undefined;
  return { words: [...(hasVerb && verb !== undefined ? [verb] : []), ...words], env: script.env };
}

/** The separator between suite and test names: a space, or ` > ` in newer versions of Vitest. */
const BETWEEN = "(?: > | )";

/** A pattern for exactly these tests, for runners that match the names of suites and test together. */
const fullNamePattern = (tests: readonly KnownTest[]): string =>
  `(?:${tests.map(({ suite, name }) => [...suite, name].map(escapePattern).join(BETWEEN)).join("|")})$`;

/** The files of the tests, without duplicates. */
export const filesOf = (tests: readonly KnownTest[]): string[] => [
  ...new Set(tests.flatMap(({ file }) => file ?? [])),
];

export const toEventsFile = (scratch: string): string => `${scratch}/events.jsonl`;

export const eventsEnv = (scratch: string) => ({ [EVENTS_VARIABLE]: toEventsFile(scratch) });

export const isScript = (path: string): boolean => /\.(?:[cm]?[jt]s|[jt]sx)$/.test(path);

/** `a.test.ts`, `a.spec.js`, `__tests__/a.js`: the convention of most runners. */
export function isScriptTest(path: string): boolean {
  return isScript(path) && /(?:\.(?:test|spec)\.\w+$|(?:^|\/)__tests__\/)/.test(path);
}
