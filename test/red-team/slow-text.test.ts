import { action, defineTool, matchWildcards, parseTextGlob, resolveAliases } from "@octant/core";
import { createPolicy } from "@octant/runtime";
import { expect, test } from "vitest";
import { z } from "zod";
import { readCommands } from "../../packages/runtime/src/permissions/commands.ts";
import { rankPaths } from "../../packages/search/src/query/rank-paths.ts";

/** Quadratic time took 8.6 s at these lengths, exponential time takes for ever. */
const MAX_CPU_MICROSECONDS = 2_000_000;
const CHARS = 100_000;

function cpuOf(work: () => void): number {
  const started = process.threadCpuUsage();
  work();
  return process.threadCpuUsage(started).user;
}

const places = { roots: ["/ws"], home: "/home/me", searchPath: "/usr/bin" };

/** Text that a command may be full of, and what may stand before and after it. */
const FILLINGS = [
  " ",
  "\t",
  "\n",
  " \n",
  "\\\n",
  ";",
  ";\n",
  "a",
  "a ",
  "'a' ",
  '"',
  "'",
  "2>&1 ",
  "a;",
  "a && ",
  "|",
  "&",
  "(",
  "$(",
  "`",
  "{",
  "*",
  "a*",
  "[",
  "a|b ",
  "-",
  "=",
  "\\",
  "<",
  ">",
  "\u00e4 ",
];
const ENDS = [
  ["", ""],
  ["git", ""],
  ["", "git status"],
  ["git ", "!"],
  ["git status", "&"],
  ["echo '", "'"],
  ["sh -c '", "'"],
] as const;

test.each(FILLINGS)("a command full of %j is read in time that grows with its length", (filling) => {
  const policy = createPolicy(
    [{ tier: "user", rules: [{ tool_pattern: "proc", mode: "deny", args: { command: ["rm", "-rf"] } }] }],
    places,
  );
  const long = filling.repeat(Math.ceil(CHARS / filling.length));
  for (const [before, after] of ENDS) {
    const command = before + long + after;
    const cpu = cpuOf(() => {
      readCommands(command);
      policy.evaluate({ name: "proc.exec", action: undefined, input: { command } });
    });
    expect(cpu, `${before}…${after}`).toBeLessThan(MAX_CPU_MICROSECONDS);
  }
});

const GLOBS = [
  `${"*a".repeat(12)}b`,
  `${"*a".repeat(200)}b`,
  `${"**/a/".repeat(50)}b`,
  `${"**".repeat(200)}b`,
  `${"?*".repeat(200)}b`,
  `${"{a,aa}".repeat(7)}b`,
  `${"[ab]*".repeat(100)}c`,
  `${"{a*,*a}*".repeat(7)}b`,
];
const TEXTS = ["a".repeat(4_000), "a/".repeat(2_000), "ab".repeat(2_000)];

test.each(GLOBS)("the glob %s is matched in time bounded by the lengths", (glob) => {
  const cpu = cpuOf(() => {
    for (const text of TEXTS) {
      parseTextGlob(glob)?.(text);
      rankPaths(glob, [text]);
      const policy = createPolicy(
        [
          {
            tier: "project",
            rules: [
              { tool_pattern: glob, mode: "deny" },
              { tool_pattern: "*", mode: "deny", args: { path: glob, name: glob } },
            ],
          },
        ],
        places,
      );
      policy.evaluate({ name: text, action: undefined, input: { path: `/ws/${text}`, name: text } });
      readCommands(`${glob} ${text}`);
    }
  });
  expect(cpu).toBeLessThan(MAX_CPU_MICROSECONDS);
});

test("the files that rules deny are looked for once in a call, however many programs it starts", async () => {
  const rule = { tool_pattern: "*", mode: "deny", args: { path: ".env" } } as const;
  const policy = createPolicy([{ tier: "project", rules: [rule] }], places);
  const denied = policy.denied([{ name: "ws.capabilities", action: undefined, input: {} }]);
  expect(denied?.masks()).toBe(denied?.masks());
  expect(denied).toBeDefined();
  await denied?.masks();
});

test("wildcards that match anything are as fast", () => {
  const parts = "*a"
    .repeat(100)
    .split("")
    .map((char) => (char === "*" ? { many: () => true } : { one: (one: string) => one === char }));
  expect(
    cpuOf(() => expect(matchWildcards([...parts, { one: () => false }], "a".repeat(4_000))).toBe(false)),
  ).toBeLessThan(MAX_CPU_MICROSECONDS);
});

const applyPatch = action({
  summary: "Edit files.",
  access: "write",
  intent: "apply",
  timing: "sync",
  input: z.object({ uri: z.string().optional(), patch: z.string() }),
  output: z.object({}),
  errors: [],
  examples: [{ title: "None", input: { patch: "" } }],
  run: () => ({}),
});
const files = defineTool({ name: "fs", summary: "Edits files.", actions: { apply_patch: applyPatch } });
const FILES = { get: (name: string) => (name === "fs" ? files : undefined) };

test.each([
  ["<<<<<SEARCH\n", ""],
  ["<<<<<SEARCH\n=====\n", ""],
  ["=====\n", "<<<<<SEARCH\n"],
  ["=====\n", "<<<<<SEARCH\n=====\n"],
  [":start_line: 1\n", "<<<<<SEARCH\n"],
  ["```\n", "```\n"],
  ["EOF\n\n", "apply_patch <<EOF\n"],
  ["<<<<<SEARCH\n=====\n>>>>>REPLACE\n", ""],
])("a patch full of %j after %j is read in time that grows with its length", (filling, before) => {
  const text = before + filling.repeat((5 * CHARS) / filling.length);
  for (const input of [{ patch: text }, { uri: "a", diff: text }])
    expect(cpuOf(() => resolveAliases(FILES, { tool: "fs", action: "apply_patch", input }))).toBeLessThan(
      MAX_CPU_MICROSECONDS,
    );
});
