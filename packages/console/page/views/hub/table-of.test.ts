import { expect, test } from "vitest";
import { columnsOf, rowsOf, toCell } from "./table-of.ts";

test("a list becomes rows with names and states first and ids last", () => {
  const rows = rowsOf({
    more: false,
    projects: [{ project_id: "p", limits: {}, branch: "main", state: "ready", name: "shop" }],
  });
  expect(columnsOf(rows)).toEqual(["name", "state", "branch", "project_id"]);
  expect(toCell("state", "ready")).toEqual({ kind: "state", text: "ready", tone: "good" });
  expect(toCell("created_at", "2026-11-18T01:00:00Z")).toEqual({ kind: "time", at: "2026-11-18T01:00:00Z" });
  expect(toCell("x", null)).toEqual({ kind: "text", text: "–" });
});
