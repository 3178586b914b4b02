import { z } from "zod";
import type { CreateParser, Findings, Place } from "../case.ts";
import { toJson } from "./events.ts";
import { placesIn } from "./stack.ts";

const Event = z.object({
  Action: z.string(),
  Package: z.string().optional(),
  ImportPath: z.string().optional(),
  Test: z.string().optional(),
  Elapsed: z.number().optional(),
  Output: z.string().optional(),
});
type Event = z.output<typeof Event>;

const MAX_OUTPUT_CHARS = 16_384;

interface GoPackage {
  output: string;
  /** The output of each unfinished test. */
  readonly running: Map<string, string>;
  /** Tests that have subtests, and those with a failed subtest. */
  readonly parents: Set<string>;
  readonly failedInside: Set<string>;
  failed: boolean;
  ended: boolean;
}

/** Parses `go test -json`. `module` is the module path from the folder's go.mod. */
export const createGoParser =
  (module: string): CreateParser =>
  (findings) => {
    const packages = new Map<string, GoPackage>();
    const packageOf = (path: string): GoPackage => {
      const known = packages.get(path);
      if (known) return known;
      const made: GoPackage = {
        output: "",
        running: new Map(),
        parents: new Set(),
        failedInside: new Set(),
        failed: false,
        ended: false,
      };
      packages.set(path, made);
      return made;
    };
    return {
      line(line) {
        const event = Event.safeParse(toJson(line)).data;
        if (event) return readEvent(event, packageOf, findings, module);
        // Before Go 1.24 a build failure is reported as plain text.
        const [, path] = /^FAIL\t(\S+) \[(?:build|setup) failed\]/.exec(line) ?? [];
        if (path !== undefined) endPackage(path, packageOf(path), "fail", findings, line);
      },
      end: () => [...packages.values()].every(({ ended }) => ended),
    };
  };

function readEvent(
  event: Event,
  packageOf: (path: string) => GoPackage,
  findings: Findings,
  module: string,
): void {
  const path = event.Package ?? event.ImportPath?.split(" ")[0];
  if (path === undefined) return;
  const found = packageOf(path);
  const { Action: action, Test: test, Output: output = "" } = event;
  if (action === "output" || action === "build-output") {
    keepOutput(found, test, output);
    return;
  }
  if (test === undefined) {
    if (action === "pass" || action === "fail" || action === "skip")
      endPackage(path, found, action, findings);
    return;
  }
  if (action === "run") {
    found.running.set(test, "");
    for (const outer of outerTests(test)) found.parents.add(outer);
    return;
  }
  if (action === "pass" || action === "fail" || action === "skip")
    endTest(event, path, found, findings, module);
}

function keepOutput(found: GoPackage, test: string | undefined, output: string): void {
  if (test === undefined) found.output = (found.output + output).slice(0, MAX_OUTPUT_CHARS);
  else found.running.set(test, ((found.running.get(test) ?? "") + output).slice(0, MAX_OUTPUT_CHARS));
}

function endTest(event: Event, path: string, found: GoPackage, findings: Findings, module: string): void {
  const { Action: action, Test: id = "", Elapsed: seconds = 0 } = event;
  const output = found.running.get(id) ?? "";
  found.running.delete(id);
  if (action === "fail") {
    found.failed = true;
    for (const outer of outerTests(id)) found.failedInside.add(outer);
  }
  // A test with subtests is counted by them, unless it failed and they did not.
  if (found.parents.has(id) && (action !== "fail" || found.failedInside.has(id))) return;
  const names = id.split("/");
  const message = messageIn(output);
  findings.test({
    name: names.at(-1) ?? id,
    suite: [path, ...names.slice(0, -1)],
    outcome: action === "fail" || action === "pass" ? action : "skip",
    durationMs: seconds * 1000,
    id: `${path} ${id}`,
    problem:
      action === "fail"
        ? {
            message: message || "the test failed and said nothing",
            stack: stackIn(output),
            at: placeIn(output, folderOf(path, module)),
          }
        : undefined,
  });
}

function endPackage(path: string, found: GoPackage, action: string, findings: Findings, line = ""): void {
  if (found.ended) return;
  found.ended = true;
  if (action !== "fail" || found.failed) return;
  const unfinished = [...found.running].map(([name, output]) => `${name} did not end\n${output}`);
  const message = messageIn([found.output, ...unfinished].join("\n")) || line;
  findings.broken({ name: path, problem: { message: message || `${path} failed outside of its tests` } });
}

/** `A/b/c` is inside `A/b` and `A`. */
const outerTests = (test: string): string[] =>
  test
    .split("/")
    .slice(0, -1)
    .map((_, index, names) => names.slice(0, index + 1).join("/"));

/** The test's own output, without the lines added by go. */
const messageIn = (output: string): string =>
  output
    .split("\n")
    .filter(
      (line) =>
        !/^\s*(?:=== (?:RUN|PAUSE|CONT|NAME)|--- (?:FAIL|PASS|SKIP):|FAIL$|exit status |FAIL\t)/.test(line),
    )
    .join("\n")
    .trim();

const stackIn = (output: string): string | undefined => {
  const at = output.indexOf("goroutine ");
  return at < 0 ? undefined : output.slice(at);
};

/** The first line that t.Error wrote, else the innermost frame of a panic in a test file. */
function placeIn(output: string, folder: string | undefined): Place | undefined {
  const [, file = "", line] = /^ {4,}([^\s:/]+\.go):(\d{1,9}):/m.exec(output) ?? [];
  if (line !== undefined && folder !== undefined) return { file: folder + file, line: Number(line) };
  return placesIn(stackIn(output) ?? "").find((place) => place.file.endsWith("_test.go"));
}

/** The package's folder relative to the module, with a trailing slash. */
function folderOf(path: string, module: string): string | undefined {
  if (path === module) return "";
  return path.startsWith(`${module}/`) ? `${path.slice(module.length + 1)}/` : undefined;
}
