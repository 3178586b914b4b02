import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createScriptedProvider } from "@octant/scripted-provider";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { accountAt } from "./scripted-account.ts";

let project: FixtureProject;
beforeAll(() => {
  project = createFixtureProject();
});
afterAll(() => project[Symbol.dispose]());

const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  callOctant(args, { cwd: project.root, env: { ...project.env, ...env } });
const stored = (pattern: string) => globSync(join(dirname(project.root), "**", pattern));

test("a session of another version is one marked row; the others are listed, continued and exported", async () => {
  await using provider = await createScriptedProvider(() => ({ parts: [{ text: "hello" }] }));
  const env = accountAt(provider);
  const flags = ["--provider", "anthropic", "--model", "m"];
  for (const prompt of ["one", "two"]) expect((await run(["run", prompt, ...flags], env)).code).toBe(0);
  const odd = stored("ses_*.jsonl").find((file) => readFileSync(file, "utf8").includes('"two"'));
  const lines = readFileSync(String(odd), "utf8").split("\n");
  const at = lines.findIndex((line) => line.includes('"type":"message"'));
  lines[at] = String(lines[at]).replace('"message":{', '"answer":{');
  writeFileSync(String(odd), lines.join("\n"));
  const listed = await run(["sessions"]);
  expect(listed.stdout).toMatch(/ done .* one\n/);
  expect(listed.stdout).toMatch(/ unreadable .* two: line \d+ is damaged, or of another version/);
  const [, id = ""] = /(ses_\w+) .* unreadable/.exec(listed.stdout) ?? [];
  expect((await run(["sessions", "export", id])).stdout).toContain("two");
  expect((await run(["run", "--resume", id, "go on", ...flags], env)).stderr).toContain(
    "or was written by another version",
  );
  // The latest session that can be continued.
  expect((await run(["run", "--continue", "go on", ...flags], env)).code).toBe(0);
  expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain("one");
});

test("a record of another version is one line of the audit log", async () => {
  expect((await run(["call", "fs.list", "uri=."])).code).toBe(0);
  const [file = ""] = stored("audit/*.db");
  using db = new DatabaseSync(file);
  db.exec(`INSERT INTO records VALUES (999, '{"kind":"future","seq":999,"time":"2027-01-01T00:00:00Z"}')`);
  writeFileSync(join(dirname(file), "20260101T000000000Z-00000000.jsonl"), "{}\n");
  const { code, stdout, stderr } = await run(["audit"]);
  expect(code).toBe(0);
  expect(stderr).toContain("has the audit log of an earlier version, which is not read: 20260101T000000000Z");
  expect(stdout).toContain("fs.list");
  expect(stdout).toContain("unreadable: a record of another version (future)");
});

test("a key of a newer version in the settings is a warning with its line", async () => {
  const file = join(String(project.env["HOME"]), ".config/hanzo/settings.json");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '{\n  "telemetry": true\n}');
  const { code, stderr } = await run(["call", "fs.list", "uri=."]);
  expect([code, stderr]).toEqual([0, expect.stringContaining("settings.json:2: telemetry is ignored")]);
  writeFileSync(file, '{\n  "permision": {"fs.*": "deny"}\n}');
  expect((await run(["call", "fs.list", "uri=."])).stderr).toContain("did you mean permissions?");
});
