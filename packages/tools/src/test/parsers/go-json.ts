import { z } from "zod";
import type { CreateParser, Findings, Outcome, Place } from "../case.ts";
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

/** Parses `go test -json`. `module` is the module path from the folder's go.mod. */
export const createGoParser =
  (module: string): CreateParser =>
  (findings) => {
    const packages = new Map<string, GoPackage>();
    const packageOf = (path: string): GoPackage => {
      const found = packages.get(path) ?? createPackage(path, folderOf(path, module), findings);
      packages.set(path, found);
      return found;
    };
    return {
      line(line) {
        const event = Event.safeParse(toJson(line)).data;
        const named = event?.Package ?? event?.ImportPath?.split(" ")[0];
        if (event && named !== undefined) packageOf(named).read(event);
        if (event) return;
        // Before Go 1.24 a build failure is reported as plain text.
        const [, path] = /^FAIL\t(\S+) \[(?:build|setup) failed\]/.exec(line) ?? [];
        if (path !== undefined) packageOf(path).end("fail", line);
      },
      end: () => [...packages.values()].every((one) => one.hasEnded()),
    };
  };

type GoPackage = ReturnType<typeof createPackage>;

/** The tests of one package; `folder` is relative to the module. */
function createPackage(path: string, folder: string | undefined, findings: Findings) {
  let own = "";
  /** The output of each unfinished test. */
  const running = new Map<string, string>();
  /** Tests that have subtests, and those with a failed subtest. */
  const parents = new Set<string>();
  const failedInside = new Set<string>();
  let hasFailed = false;
  let hasEnded = false;

  const endTest = (id: string, outcome: Outcome, seconds: number) => {
    const output = running.get(id) ?? "";
    running.delete(id);
    if (outcome === "fail") {
      hasFailed = true;
      for (const outer of outerTests(id)) failedInside.add(outer);
    }
    // A test with subtests is counted by them, unless it failed and they did not.
    if (parents.has(id) && (outcome !== "fail" || failedInside.has(id))) return;
    const names = id.split("/");
    const problem = {
      message: messageIn(output) || "the test failed without a message",
      stack: stackIn(output),
      at: placeIn(output, folder),
    };
    findings.test({
      name: names.at(-1) ?? id,
      suite: [path, ...names.slice(0, -1)],
      outcome,
      durationMs: seconds * 1000,
      id: `${path} ${id}`,
      problem: outcome === "fail" ? problem : undefined,
    });
  };
  const end = (outcome: Outcome, line = "") => {
    if (hasEnded) return;
    hasEnded = true;
    if (outcome !== "fail" || hasFailed) return;
    const unfinished = [...running].map(([name, output]) => `${name} did not finish\n${output}`);
    const message = messageIn([own, ...unfinished].join("\n")) || line;
    findings.broken({ name: path, problem: { message: message || `${path} failed outside of its tests` } });
  };

  return {
    read({ Action: action, Test: test, Output: output = "", Elapsed: seconds = 0 }: Event): void {
      if (action === "output" || action === "build-output") {
        const longer = (before = "") => (before + output).slice(0, MAX_OUTPUT_CHARS);
        if (test === undefined) own = longer(own);
        else running.set(test, longer(running.get(test)));
      }
      if (action === "run" && test !== undefined) {
        running.set(test, "");
        for (const outer of outerTests(test)) parents.add(outer);
      }
      if (action !== "pass" && action !== "fail" && action !== "skip") return;
      if (test === undefined) end(action);
      else endTest(test, action, seconds);
    },
    end,
    hasEnded: () => hasEnded,
  };
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
