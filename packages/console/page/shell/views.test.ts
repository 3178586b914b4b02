import { expect, test } from "vitest";
import { viewsFor } from "./views.ts";

const ME = {
  access: "admin",
  project: null,
  process: "1",
  version: "1",
  hub: false,
  csp_reports: 0,
} as const;
const idsFor = (me: Parameters<typeof viewsFor>[0]) => viewsFor(me).map(({ id }) => id);

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
