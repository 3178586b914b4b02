import { expect, test } from "vitest";
import { findRole, parseRole, ROLES } from "./roles.ts";

/** The head of an agent of Claude Code, and what it may do here. */
const CLAUDE: readonly (readonly [head: string, expected: object])[] = [
  ["name: helper\ndescription: Helps", { name: "helper", access: "write", summary: "Helps", max_turns: 40 }],
  ["name: helper\ntools: Read, Grep", { access: "read", tools: ["fs", "search", "code", "ws", "vcs"] }],
  ["name: helper\ntools: [Read, Edit]", { access: "write" }],
  [
    "name: helper\ntools:\n  - Bash(git:*)\n  - mcp__docs__find",
    { access: "write", tools: ["proc", "test", "job", "mcp__docs__find"] },
  ],
  [
    "name: helper\ndisallowedTools: Edit, MultiEdit, Write, NotebookEdit, Bash, BashOutput, KillShell, WebFetch, WebSearch, Task, Agent",
    { access: "read" },
  ],
  [
    "name: helper\ndescription: D\nmodel: opus\ncolor: red\nmaxTurns: 7",
    { summary: "D (ignored: model, color)", max_turns: 7 },
  ],
];

test.each(CLAUDE)("an agent of Claude Code: %j", (head, expected) => {
  expect(parseRole("file", `---\n${head}\n---\nDo it.\n`)).toMatchObject({ prompt: "Do it.", ...expected });
});

test("a role of ours is read-only unless it says more, and an empty one is none", () => {
  expect(parseRole("scribe", "---\nsummary: Writes\ntools: [fs]\n---\nWrite.\n")).toEqual({
    name: "scribe",
    summary: "Writes",
    prompt: "Write.",
    access: "read",
    tools: ["fs"],
    max_turns: 40,
  });
  expect(parseRole("x", "---\nname: x\n---\n")).toBeUndefined();
});

test.each([
  ["Explore", "explore"],
  ["Plan", "plan"],
  ["general-purpose", "auto"],
  ["review", "review"],
])("%s is the role %s", (given, name) => {
  expect(findRole(ROLES, given).name).toBe(name);
});

test("a role of the project comes before the names of other agents", () => {
  const own = { ...ROLES[0]!, name: "general-purpose" };
  expect(findRole([...ROLES, own], "general-purpose")).toBe(own);
  expect(() => findRole(ROLES, "nobody")).toThrow("there is no role 'nobody'; roles: plan");
});
