import { expect, test } from "vitest";
import type { OctantProcess } from "../../src/api.ts";
import { viewsFor } from "./views.ts";

const ME = {
  access: "admin",
  project: null,
  process: "1",
  version: "1",
  hub: false,
  csp_reports: 0,
} as const;
const idsFor = (...given: Parameters<typeof viewsFor>) => viewsFor(...given).map(({ id }) => id);
const HUB: OctantProcess = {
  id: "2",
  pid: 2,
  version: "1",
  command: "hub",
  started_at: "2026-11-18T01:00:00Z",
  roots: [],
  clients: [],
  state: "idle",
  running_calls: 0,
  sessions: [],
  questions: [],
};

test("each console has the views that its server and its caller can fill", () => {
  const machine = ["now", "approvals", "live", "jobs", "sessions", "search", "files", "audit", "health"];
  expect(idsFor(ME)).toEqual(machine);
  expect(idsFor({ ...ME, hub: true })).toEqual([
    "now",
    "approvals",
    "live",
    "jobs",
    "audit",
    "hub",
    "health",
  ]);
  expect(idsFor({ ...ME, hub: true, project: "project_1" })).toEqual(["now", "live", "jobs", "hub"]);
});

test("a hub in another process has a view here, which leads to its console", () => {
  expect(idsFor(ME, [HUB])).toContain("hub");
  expect(idsFor(ME, [{ ...HUB, command: "serve" }])).not.toContain("hub");
});
