import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

test("the generated pages match the declarations", () => {
  const { status, stderr } = spawnSync(process.execPath, ["scripts/docs.ts", "--check"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  expect(status).toBe(0);
});

test("the table of commands in CONTRIBUTING.md names scripts that exist, and the one that packs a release", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const page = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");
  const named = [...page.matchAll(/npm run ([\w-]+)/g)].map(([, name = ""]) => name);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  expect(named).toContain("package");
  // `npm start` leaves out packages that packing needs.
  expect(scripts.package).toContain("scripts/install.mjs");
});

test("the API reference shows types without an export that public declarations mention, with those that these mention", () => {
  const page = readFileSync(join(ROOT, "docs/api/agent.md"), "utf8");
  expect(page).toContain("type AgentEvent = (StoredEvent | LiveEvent) & EventStamp;");
  expect(page).toContain("### StoredEvent\n");
  expect(page).toContain("### SessionBegan\n");
});
