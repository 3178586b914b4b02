import { setImmediate as nextTurn } from "node:timers/promises";
import { ToolError } from "@octant/core";
import type { Confinement, Path } from "@octant/host";
import { readBytes } from "../read-bytes.ts";
import { joinPath } from "../ws/detect/paths.ts";
import { createProjectFiles } from "../ws/project-files.ts";
import type { Findings, Place, Problem, TestCase } from "./case.ts";
import { ownPath } from "./failure.ts";
import { createJunitReader } from "./parsers/junit.ts";
import { openRegularFile } from "./regular-file.ts";

const MAX_FOLDERS = 5_000;
const MAX_DEPTH = 12;
const MAX_REPORTS = 2_000;
const MAX_REPORT_BYTES = 32 * 1024 * 1024;
/** Parsed without a pause: between two parts, and two folders, other work gets its turn. */
const PIECE_CHARS = 65_536;
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;
/** File system clocks are coarse. */
const MTIME_SLACK_MS = 50;

/**
 * Parses the JUnit reports below a folder that were written since; returns whether there were any and all were
 * complete.
 */
export async function readReports(
  confinement: Confinement,
  folder: Path,
  since: number,
  findings: Findings,
): Promise<boolean | undefined> {
  let complete: boolean | undefined;
  let left = MAX_TOTAL_BYTES;
  for (const path of await reportsBelow(confinement, folder)) {
    const broken = (problem: Problem) => findings.broken({ name: path, file: path, problem });
    const bytes = readNew(confinement, path, since - MTIME_SLACK_MS, Math.min(left, MAX_REPORT_BYTES));
    if (bytes === "too large") broken({ message: "this report is too large to be read" });
    if (typeof bytes !== "object") continue;
    left -= bytes.length;
    const whole = await parseReport(bytes.toString(), {
      test: (test) => findings.test(withSource(test, path, folder, confinement)),
      broken: ({ problem }) => broken(problem),
    });
    complete = whole && complete !== false;
  }
  return complete;
}

/** Parses the one report that a runner wrote for us; undefined when there is none. */
export async function readReport(path: string, findings: Findings): Promise<boolean | undefined> {
  try {
    using file = openRegularFile(path);
    if (!file) return undefined;
    if (file.size <= MAX_REPORT_BYTES)
      return await parseReport(readBytes(file.fd, file.size).toString(), findings);
    findings.broken({ name: path, problem: { message: "this report is too large to be read" } });
    return false;
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw cause;
  }
}

/** Returns whether the report was complete. */
async function parseReport(xml: string, findings: Findings): Promise<boolean> {
  const reader = createJunitReader(xml, findings);
  for (let at = 0; at < xml.length && !reader.isRefused; at += PIECE_CHARS) {
    reader.write(xml.slice(at, at + PIECE_CHARS));
    await nextTurn();
  }
  return reader.end();
}

/** Build folders contain the reports, so they are searched; those of dependencies are not. */
async function reportsBelow(confinement: Confinement, top: Path): Promise<Path[]> {
  const files = createProjectFiles(confinement, top);
  const queue = [{ path: "", depth: 0 }];
  const found: Path[] = [];
  for (const { path, depth } of queue) {
    await nextTurn();
    if (found.length >= MAX_REPORTS) break;
    const entries = files.entries(path);
    for (const name of entries.files)
      if (name.endsWith(".xml")) found.push(joinPath(top, joinPath(path, name)));
    if (depth === MAX_DEPTH) continue;
    for (const name of entries.folders)
      if (name !== "node_modules" && name !== ".git" && queue.length < MAX_FOLDERS)
        queue.push({ path: joinPath(path, name), depth: depth + 1 });
  }
  return found.slice(0, MAX_REPORTS);
}

const HEAD_BYTES = 4_096;

/** A new file that starts like a report. */
function readNew(
  confinement: Confinement,
  path: Path,
  since: number,
  maxBytes: number,
): Buffer | "too large" | undefined {
  try {
    using file = confinement.openFile(path);
    if (file.stat.mtimeMs < since) return undefined;
    if (!/<testsuites?[\s>]/.test(readBytes(file.fd, HEAD_BYTES).toString())) return undefined;
    return file.stat.size > maxBytes ? "too large" : readBytes(file.fd, file.stat.size);
  } catch (cause) {
    if (cause instanceof ToolError) return undefined;
    throw cause;
  }
}

const SOURCES = ["src/test/java", "src/test/kotlin", "src/test/scala", "src/test/groovy"];

/** JVM stack traces name files without folders; the class and the report's location supply them. */
function withSource(test: TestCase, report: Path, folder: Path, confinement: Confinement): TestCase {
  const at = test.problem?.at;
  const names = test.suite.at(-1)?.split(".") ?? [];
  if (!test.problem || !at || at.file.includes("/") || names.length < 2) return test;
  const module = report.replace(/\/(?:target|build)\/.*$/, "");
  const inPackage = joinPath(names.slice(0, -1).join("/"), at.file);
  const file = SOURCES.map((source) => `${module}/${source}/${inPackage}`).find((path) =>
    ownPath(path, folder, confinement),
  );
  const place: Place | undefined = file === undefined ? at : { ...at, file };
  return { ...test, problem: { ...test.problem, at: place } };
}
