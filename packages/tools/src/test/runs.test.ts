import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStateFolder } from "@octant/host";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRuns, emptySummary } from "./runs.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "octant-runs-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const openState = () => openStateFolder({ roots: ["/p"], env: { XDG_STATE_HOME: base }, warn: () => {} });

test("a run whose server died is no longer running", () => {
  const state = openState();
  const { run_id } = createRuns(state).begin("me");
  const file = join(state.folder("test-runs"), `${run_id}.json`);
  expect(createRuns(state).get("me", run_id).summary.status).toBe("running");
  const kept = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...kept, process: "4194305:1" }));
  expect(createRuns(state).get("me", run_id).summary).toMatchObject({ status: "crashed" });
});

test("a run of a newer version is reported as such, and one without a version is read", () => {
  const state = openState();
  const { run_id } = createRuns(state).begin("me");
  const file = join(state.folder("test-runs"), `${run_id}.json`);
  const { version, ...older } = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify(older));
  expect(createRuns(state).get("me", run_id).summary.status).toBe("running");
  writeFileSync(file, JSON.stringify({ ...older, version: version + 1 }));
  expect(() => createRuns(state).get("me", run_id)).toThrow("a newer version of Octant stored");
  expect(() => createRuns(state).get("other", run_id)).toThrow("there is no run");
});

test("the last failures have a version; a newer one is reported, and a bare list is read", () => {
  const state = openState();
  const runs = createRuns(state);
  const failed = [{ name: "adds", suite: ["sum"] }];
  runs.storeFailed("me", "vitest", failed);
  expect(runs.lastFailed("me", "vitest")).toEqual(failed);
  const [name = ""] = readdirSync(state.folder("test-runs"));
  const file = join(state.folder("test-runs"), name);
  writeFileSync(file, JSON.stringify(failed));
  expect(runs.lastFailed("me", "vitest")).toEqual(failed);
  writeFileSync(file, JSON.stringify({ version: 2, failed: {} }));
  expect(() => runs.lastFailed("me", "vitest")).toThrow("a newer version of Octant stored");
});

test("only the newest hundred runs are stored", () => {
  const state = openState();
  const runs = createRuns(state);
  const ids = Array.from({ length: 105 }, () => {
    const run = runs.begin("me");
    run.end({ ...emptySummary(run.run_id), status: "passed" }, []);
    return run.run_id;
  });
  expect(readdirSync(state.folder("test-runs"))).toHaveLength(100);
  expect(runs.get("me", ids.at(-1) ?? "").summary.status).toBe("passed");
});

test("a torn file counts as missing", () => {
  const state = openState();
  const runs = createRuns(state);
  const run = runs.begin("me");
  run.end(emptySummary(run.run_id), []);
  writeFileSync(join(state.folder("test-runs"), `${run.run_id}.json`), '{"owner":');
  expect(() => runs.get("me", run.run_id)).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
});

test("too many concurrent runs are refused", () => {
  const runs = createRuns(openState());
  for (let i = 0; i < 8; i++) runs.begin("me");
  expect(() => runs.begin("me")).toThrow(expect.objectContaining({ code: "LIMIT_EXCEEDED" }));
});

test("a pipe in place of a stored file counts as missing", () => {
  const state = openState();
  const runs = createRuns(state);
  const run = runs.begin("me");
  run.end(emptySummary(run.run_id), []);
  const file = join(state.folder("test-runs"), `${run.run_id}.json`);
  rmSync(file);
  execFileSync("mkfifo", [file]);
  expect(() => runs.get("me", run.run_id)).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
});
