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
  idsOf,
  type KnownTest,
  notInstalled,
  type Plan,
  type Runner,
  type SelectBy,
  selectedBy,
} from "../runner.ts";

interface NodeRunner extends Pick<Runner, "name" | "hasNoTests"> {
  readonly isTestFile?: Runner["isTestFile"];
  /** The name and source of our reporter. */
  readonly reporter: readonly [file: string, source: string];
  readonly args: (reporter: string) => readonly string[];
  readonly workers: (count: number) => readonly string[];
  /** Its option, or what to do instead. */
  readonly coverage: readonly string[] | string;
  readonly select: SelectBy<readonly string[]>;
}

/** Runners that load our reporter by an option. */
const RUNNERS: readonly NodeRunner[] = [
  {
    name: "vitest",
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
    return { argv: nodeCommand(plan, name, args), env: eventsEnv(scratch) };
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
    return { argv: nodeCommand(plan, name, [flag, ...files]) };
  },
});

export const nodeRunners: readonly Runner[] = [
  ...RUNNERS.map(toRunner),
  tapRunner("ava", "--tap"),
  tapRunner("tap", "--reporter=tap"),
];

/** The suite's own command followed by our arguments; a script of package.json passes them on. */
function nodeCommand(plan: Plan, program: string, args: readonly string[]): [string, ...string[]] {
  const { command } = plan.suite;
  const installed = plan.nearest(`node_modules/.bin/${program}`);
  // With Plug'n'Play there is no node_modules; the package manager resolves programs.
  if (installed === undefined && plan.nearest(".pnp.cjs") === undefined)
    throw notInstalled(
      program,
      `install the packages first, as in "${command[0] === "npx" ? "npm" : command[0]} install"`,
    );
  const [manager = program, verb, ...rest] = command;
  if (manager === "npm" && verb === "run") return [manager, verb, ...rest, "--", ...args];
  // An installed runner is run without the project's package manager, because bun or pnpm may be missing.
  const runsScript = verb === "run" && (installed === undefined || plan.onPath(manager));
  if (runsScript || installed === undefined) return [manager, ...command.slice(1), ...args];
  // Started directly: npx would download a missing program.
  return [installed, ...(verb === "run" ? [] : command.slice(command.indexOf(program) + 1)), ...args];
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
