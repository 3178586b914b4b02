import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createProject, type TestProject } from "../../testing/config/project.ts";
import type { PermissionRule } from "../permissions/rule.ts";
import { addLocalRule } from "./local-rule.ts";
import { SettingsError } from "./settings-error.ts";

const ALLOW: PermissionRule = { tool_pattern: "fs.read", mode: "allow" };
const NARROW: PermissionRule = {
  tool_pattern: "proc.exec",
  mode: "allow",
  args: { command: ["npm", "test"] },
};

const textOf = (project: TestProject) => readFileSync(project.files.local, "utf8");
const gitignoreOf = ({ root }: TestProject) => readFileSync(join(root, ".hanzo/.gitignore"), "utf8");
const rulesOf = (project: TestProject) => project.load().permissions.flatMap(({ rules }) => rules);

test("the first rule creates the file, private to the person, and applies at once", async () => {
  using project = createProject();
  expect(await addLocalRule(project.root, NARROW, project)).toEqual({ trusted: true });
  expect(rulesOf(project)).toEqual([NARROW]);
  expect(project.load().waiting).toEqual([]);
  expect(statSync(dirname(project.files.local)).mode & 0o777).toBe(0o700);
  expect(statSync(project.files.local).mode & 0o777).toBe(0o600);
  expect(gitignoreOf(project)).toBe("settings.local.json\n.gitignore\n");
});

test("git ignores the file also in a folder that the team has made, unless its .gitignore says otherwise", async () => {
  using project = createProject();
  mkdirSync(dirname(project.files.local));
  await addLocalRule(project.root, ALLOW, project);
  expect(gitignoreOf(project)).toContain("settings.local.json\n");
  writeFileSync(join(project.root, ".hanzo/.gitignore"), "theirs\n");
  await addLocalRule(project.root, NARROW, project);
  expect(gitignoreOf(project)).toBe("theirs\n");
});

test("further rules are added and count, and the same one is not written twice", async () => {
  using project = createProject();
  for (const rule of [ALLOW, NARROW, ALLOW]) await addLocalRule(project.root, rule, project);
  expect(rulesOf(project)).toEqual([ALLOW, NARROW]);
});

test("the same rule with a new expiry replaces the old one, but never one without an expiry", async () => {
  using project = createProject();
  const until = (year: number) => ({ ...NARROW, expires_at: `${year}-01-01T00:00:00Z` });
  for (const rule of [ALLOW, until(2020), until(2999)]) await addLocalRule(project.root, rule, project);
  expect(rulesOf(project)).toEqual([ALLOW, until(2999)]);
  await addLocalRule(project.root, { ...ALLOW, expires_at: "2999-01-01T00:00:00Z" }, project);
  expect(rulesOf(project)).toEqual([ALLOW, until(2999)]);
});

test("rules added at the same time are all there", async () => {
  using project = createProject();
  const rules = ["fs.read", "fs.stat", "fs.list", "vcs.log"].map((name) => ({
    ...ALLOW,
    tool_pattern: name,
  }));
  await Promise.all(rules.map((rule) => addLocalRule(project.root, rule, project)));
  expect(
    rulesOf(project)
      .map((rule) => rule.tool_pattern)
      .sort(),
  ).toEqual(rules.map((rule) => rule.tool_pattern).sort());
});

const RULE = JSON.stringify(ALLOW);

test.each([
  ["an empty object", "{}", `{\n  "permissions": [${RULE}]\n}`],
  [
    "a list over several lines",
    '{\n\t// mine, all\n\t"permissions": [\n\t\t{"tool_pattern":"a","mode":"deny"} // no, never\n\t\t/* end, */\n\t]\n}\n',
    `{\n\t// mine, all\n\t"permissions": [\n\t\t{"tool_pattern":"a","mode":"deny"}, // no, never\n\t\t/* end, */\n\t\t${RULE}\n\t]\n}\n`,
  ],
  [
    "a list on one line, with a trailing comma",
    '{"permissions":[{"tool_pattern":"a","mode":"deny"},]}',
    `{"permissions":[{"tool_pattern":"a","mode":"deny"}, ${RULE}]}`,
  ],
  ["an empty list", '{"permissions": []}', `{"permissions": [\n  ${RULE}\n]}`],
  [
    "a map",
    '{\r\n  "permissions": {\r\n    "a": "deny",\r\n    "b": "prompt"\r\n  }\r\n}',
    '{\r\n  "permissions": {\r\n    "a": "deny",\r\n    "fs.read": "allow",\r\n    "b": "prompt"\r\n  }\r\n}',
  ],
  ["other keys", '{ "model": "m" // mine\n}', `{ "model": "m", // mine\n  "permissions": [${RULE}]\n}`],
])("%s keeps its comments and layout", async (_, before, after) => {
  using project = createProject();
  project.write("local", before);
  await addLocalRule(project.root, ALLOW, project);
  expect(textOf(project)).toBe(after);
  expect(rulesOf(project)).toContainEqual(ALLOW);
});

test("a map that cannot hold the rule becomes a list", async () => {
  using project = createProject();
  project.write("local", '{"permissions":{"fs.rm":"deny"}}');
  await addLocalRule(project.root, NARROW, project);
  expect(rulesOf(project)).toEqual([{ tool_pattern: "fs.rm", mode: "deny" }, NARROW]);
});

test("an allow rule never comes before a deny rule", async () => {
  using project = createProject();
  project.write(
    "local",
    '{"permissions":[{"tool_pattern":"a","mode":"deny"},{"tool_pattern":"*","mode":"prompt"}]}',
  );
  await addLocalRule(project.root, ALLOW, project);
  expect(rulesOf(project).map(({ mode }) => mode)).toEqual(["deny", "allow", "prompt"]);
});

test("adding a rule does not trust other content of the file", async () => {
  using project = createProject();
  project.write("local", '{"permissions":{"*":"allow"}}');
  expect(await addLocalRule(project.root, ALLOW, project)).toEqual({ trusted: false });
  expect(rulesOf(project)).toEqual([]);
  expect(project.load().waiting).toHaveLength(1);
});

test("content added to the file by others afterwards asks again", async () => {
  using project = createProject();
  await addLocalRule(project.root, ALLOW, project);
  project.write("local", textOf(project).replace("fs.read", "*"));
  expect(rulesOf(project)).toEqual([]);
});

test("a broken file, and a folder that is a link, are left alone", async () => {
  using project = createProject();
  project.write("local", "{ broken");
  await expect(addLocalRule(project.root, ALLOW, project)).rejects.toThrow(SettingsError);
  expect(textOf(project)).toBe("{ broken");

  using other = createProject();
  const outside = join(dirname(other.root), "outside");
  mkdirSync(outside);
  symlinkSync(outside, join(other.root, ".hanzo"));
  await expect(addLocalRule(other.root, ALLOW, other)).rejects.toThrow(SettingsError);
  expect(existsSync(join(outside, "settings.local.json"))).toBe(false);
});
