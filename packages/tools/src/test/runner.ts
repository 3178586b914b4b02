import { ToolError } from "@octant/core";
import type { Confinement, Path, Processes, Sandbox, StateFolder } from "@octant/host";
import type { CreateParser, TestCase } from "./case.ts";
import type { PlainScript } from "./script.ts";
import type { Suite } from "./suites.ts";

/** The dependencies of `test`; a Workspace has all of them. */
export interface TestOptions {
  readonly workspace: {
    readonly confinement: Confinement;
    readonly state: StateFolder;
    readonly processes: Processes;
    readonly sandbox?: Pick<Sandbox, "unconfined">;
  };
  /** The server's environment: programs are found on its PATH. */
  readonly env: NodeJS.ProcessEnv;
}

/** The tests of a suite to run. */
export type Selection =
  | { readonly by: "name"; readonly text: string }
  /** Relative to the suite's folder. */
  | { readonly by: "file"; readonly path: Path }
  | { readonly by: "tests"; readonly tests: readonly KnownTest[] };

/** The part of a test needed to run it again. */
export type KnownTest = Pick<TestCase, "name" | "suite" | "file" | "id">;

/** The selection and options for running a suite. */
export interface SuiteRequest {
  readonly suite: Suite;
  readonly selection?: Selection;
  /** The number of parallel tests or files, where the runner supports it. */
  readonly workers?: number;
  readonly coverage: boolean;
  readonly timeoutMs: number;
  readonly owner: string;
  readonly signal: AbortSignal;
  onTest(test: TestCase): void;
}

export interface Plan extends Pick<SuiteRequest, "suite" | "selection" | "workers" | "coverage"> {
  /** A private folder of this run; it contains the files of `support`. */
  readonly scratch: string;
  /** A file of the package or of a folder above it, inside the workspace. */
  nearest(name: Path): string | undefined;
  onPath(program: string): boolean;
  /** The script of package.json that the suite runs, if it is one command. */
  readonly script: PlainScript | undefined;
  /** The text of a file of the package. */
  text(path: Path): string | undefined;
  /** Whether a word names a file or folder of the package. */
  isFile(word: string): boolean;
}

export interface Invocation {
  readonly argv: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  /** The other tests that run where the selection cannot be met exactly. */
  readonly note?: string;
}

/** How a run ended, for runners whose format is ambiguous. */
export interface Ending {
  readonly exitCode: number | null;
  /** The tail of its output, stderr after stdout. */
  readonly output: string;
}

/** One way to run tests. `name` is its name in ws.detect. `runners/index.ts` lists all. */
export interface Runner {
  readonly name: string;
  /** Files written into the scratch folder before the start. */
  readonly support?: Readonly<Record<string, string>>;
  readonly reads: Reading;
  /** By its path relative to the suite's folder; for listing only. */
  isTestFile(path: Path): boolean;
  /** The supported ways to select tests; default all. */
  readonly selects?: readonly Selection["by"][];
  /** UNSUPPORTED when the program is missing or does not support the request. */
  command(plan: Plan): Invocation;
  /** Whether an ending without any test means that there are none. Exit code 0 means that for every runner. */
  hasNoTests?(ending: Ending): boolean;
  /** The error, if the ending shows that the runner is missing or cannot do what was asked. */
  refusal?(ending: Ending): ToolError | undefined;
}

/** Where the results are. */
export type Reading =
  /** In the file written by our own reporter. */
  | {
      readonly from: "events" /** Whether the exit code counts when it wrote nothing. */;
      readonly orExitCode?: true;
    }
  | { readonly from: "stdout"; readonly parser: (suite: Suite) => CreateParser }
  /** In the JUnit report in the scratch folder. */
  | { readonly from: "report" }
  /** In the JUnit reports that are new after the run. */
  | { readonly from: "reports" }
  /** Any format that is found: TAP on stdout, new JUnit reports, otherwise only the exit code. */
  | { readonly from: "anywhere" };

/** The effect of each kind of selection on a runner. */
export interface SelectBy<T> {
  name(text: string): T;
  file(path: Path): T;
  tests(tests: readonly KnownTest[]): T;
}

/** undefined without a selection. */
export function selectedBy<T>({ selection }: Plan, by: SelectBy<T>): T | undefined {
  if (selection?.by === "name") return by.name(selection.text);
  if (selection?.by === "file") return by.file(selection.path);
  return selection && by.tests(selection.tests);
}

/** The runner's own ids of tests. */
export const idsOf = (tests: readonly KnownTest[]): string[] => tests.flatMap(({ id }) => id ?? []);

/** Escapes text for the regular expressions of any runner. */
export const escapePattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** A path that cannot be mistaken for an option. */
export const asArgument = (path: Path): string => (path.startsWith("-") ? `./${path}` : path);

export const notInstalled = (runner: string, how: string) =>
  new ToolError("UNSUPPORTED", `${runner} is not installed here; ${how}`, { what: runner, how });

export const cannot = (runner: string, what: string, how: string) =>
  new ToolError("UNSUPPORTED", `${runner} cannot ${what}; ${how}`, { what: `${what} with ${runner}`, how });
