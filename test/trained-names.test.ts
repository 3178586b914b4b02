import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import type { AgentEvent } from "@octant/agent";
import { openAgent } from "@octant/app";
import { createScriptedProvider, type ScriptedPart } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { accountAt } from "./scripted-account.ts";

/** A module with a mistake, the line to repair, and what it has to print afterwards. */
const MISTAKES = [
  ["const sum = (a, b) => a - b;", "const sum = (a, b) => a + b;", "sum(2, 3)", "5"],
  [
    "const last = (list) => list[list.length];",
    "const last = (list) => list[list.length - 1];",
    "last([1, 2])",
    "2",
  ],
  ["const isEven = (n) => n % 2 === 1;", "const isEven = (n) => n % 2 === 0;", "isEven(4)", "true"],
  [
    "const greet = (name) => 'Hello ' + nme;",
    "const greet = (name) => 'Hello ' + name;",
    "greet('Ann')",
    "Hello Ann",
  ],
  [
    "const max = (...all) => Math.min(...all);",
    "const max = (...all) => Math.max(...all);",
    "max(1, 9)",
    "9",
  ],
  [
    "const reverse = (t) => [...t].sort().join('');",
    "const reverse = (t) => [...t].reverse().join('');",
    "reverse('cab')",
    "bac",
  ],
  [
    "const count = (t) => t.split(' ').length - 1;",
    "const count = (t) => t.split(' ').length;",
    "count('a b c')",
    "3",
  ],
  ["const half = (n) => n * 2;", "const half = (n) => n / 2;", "half(8)", "4"],
] as const;

interface Task {
  readonly root: string;
  readonly file: string;
  readonly wrong: string;
  readonly right: string;
  /** The lines below it. */
  readonly rest: string;
}

type Turn = readonly { readonly call: string; readonly input: unknown }[];
const one = (call: string, input: unknown): Turn => [{ call, input }];
const run = ({ file }: Task) => `node ${file}`;

const patchOf = ({ file, wrong, right }: Task) =>
  `*** Begin Patch\n*** Update File: ${file}\n@@\n-${wrong}\n+${right}\n*** End Patch\n`;

/**
 * How models that were trained on other tools solve a task: their names, their parameters, their shapes, by the schemas in
 * other-agents.ts. Every other task is solved without reading the file first, as models do after a search.
 */
const DIALECTS: Readonly<Record<string, (task: Task, isUnread: boolean) => readonly Turn[]>> = {
  claude: (task, isUnread) => [
    one("TodoWrite", { todos: [{ content: "Find it", status: "in_progress", activeForm: "Finding it" }] }),
    [
      { call: "Glob", input: { pattern: "**/*.js", path: "src" } },
      {
        call: "Grep",
        input: { pattern: "const ", path: "src", output_mode: "content", "-n": true, "-A": 1, head_limit: 5 },
      },
    ],
    ...(isUnread
      ? [one("Edit", { file_path: task.file, old_string: task.wrong, new_string: task.right })]
      : [
          one("Read", { file_path: task.file, offset: 1, limit: 20 }),
          one("Write", { file_path: task.file, content: `${task.right}\n${task.rest}\n` }),
          one("Edit", { file_path: task.file, old_string: "const", new_string: "let", replace_all: true }),
        ]),
    one("Bash", { command: run(task), description: "Run it", timeout: 60000 }),
    one("TodoWrite", { todos: [{ content: "Find it", status: "completed", activeForm: "Finding it" }] }),
    one("Bash", { command: "git status --short && git diff --stat", description: "See the change" }),
  ],
  codex: (task, isUnread) => [
    one("update_plan", {
      explanation: "Start",
      plan: [
        { step: "Find it", status: "completed" },
        { step: "Mend it", status: "in_progress" },
      ],
    }),
    one("shell", { command: ["bash", "-lc", `sed -n 1,20p ${task.file}`], workdir: "." }),
    isUnread
      ? one("shell", { command: ["bash", "-lc", `apply_patch <<'EOF'\n${patchOf(task)}EOF\n`] })
      : one("apply_patch", { input: patchOf(task) }),
    one("exec_command", { cmd: run(task), yield_time_ms: 10_000, max_output_tokens: 1_000 }),
  ],
  gemini: (task, isUnread) => [
    one("list_directory", { dir_path: "src" }),
    one("search_file_content", { pattern: "const", include: "*.js" }),
    isUnread
      ? one("read_many_files", { include: [task.file, "README.md"], recursive: true })
      : one("read_file", { file_path: task.file, start_line: 1, end_line: 5 }),
    one("replace", {
      file_path: task.file,
      instruction: "Mend the line",
      old_string: task.wrong,
      new_string: task.right,
      ...(isUnread ? { expected_replacements: 1 } : { allow_multiple: true }),
    }),
    one("run_shell_command", { command: run(task), description: "Run it" }),
  ],
  opencode: (task, isUnread) => [
    one("grep", { pattern: "const", path: "src", include: "*.js" }),
    ...(isUnread ? [] : [one("read", { filePath: task.file, offset: 0, limit: 20 })]),
    one("edit", { filePath: task.file, oldString: task.wrong, newString: task.right }),
    one("bash", { command: run(task), description: "Run it", workdir: "." }),
    one("todowrite", { todos: [{ content: "Mend it", status: "completed", priority: "high", id: "1" }] }),
  ],
  careless: (task, isUnread) => {
    const path = join(task.root, task.file);
    const editor = (command: string, input: object) =>
      one("str_replace_based_edit_tool", { command, path, ...input });
    const numbered = (line: string) => `     1\t${line}`;
    return [
      one("Glob", { pattern: join(task.root, "src/**/*.js") }),
      one("bash", { command: `cd ${task.root} && cat -n ${task.file}` }),
      ...(isUnread
        ? [
            one("Edit", {
              file_path: `~/${relative(homedir(), path)}`,
              old_string: numbered(task.wrong),
              new_string: numbered(task.right),
            }),
            one("apply_patch", {
              input: `\`\`\`\n*** Begin Patch\n*** Update File: ${path}\n@@ -1,9 +1,9 @@ const\n-${task.right}  \n+${task.right}\n*** End Patch\n\`\`\``,
            }),
          ]
        : [
            editor("view", { view_range: [1, -1] }),
            editor("str_replace", { old_str: task.wrong, new_str: task.right }),
            editor("insert", { insert_line: 1, new_str: "// checked\n" }),
            editor("create", { file_text: `${task.right}\n${task.rest}\n` }),
            one("Write", {
              file_path: `~/${relative(homedir(), path)}`,
              content: `${task.right}\n${task.rest}\n`,
            }),
            one("edit_file", { path, edits: [{ oldText: "const ", newText: "var ", replace_all: true }] }),
          ]),
      one("git_diff", {}),
      one("shell", { command: ["bash", "-lc", `cd ${task.root} && ${run(task)}`], workdir: task.root }),
    ];
  },
  shapes: (task, isUnread) => [
    one("plan", { action: "create", title: "Mend it", steps: ["Read", "Mend", "Run"] }),
    one("fs", { action: "grep", query: "const", path: "src" }),
    ...(isUnread ? [] : [one("fs", { action: "view", path: task.file, view_range: [1, 5] })]),
    one("fs", {
      action: "patch",
      file: task.file,
      patch: JSON.stringify([{ op: "replace", old: task.wrong, new: task.right }]),
    }),
    one("proc", { action: "bash", command: run(task), wait: "60000", background: "false" }),
    one("search", { action: "search", q: "greeting", also: "hello" }),
  ],
};

test("forty-eight tasks in the dialects of other agents waste at most 2 % of their turns, and ask nothing", async () => {
  using project = createFixtureProject();
  mkdirSync(join(project.root, "src"), { recursive: true });
  let turns: Turn[] = [];
  await using provider = await createScriptedProvider(() => {
    const next = turns.shift();
    return { parts: next ? next.map((part): ScriptedPart => part) : [{ text: "done" }] };
  });
  const env = { ...project.env, ...accountAt(provider) };
  const options = { roots: [project.root], env, provider: "anthropic", model: "m", mode: "sandbox" } as const;
  const counts = { tasks: 0, turns: 0 };
  const wasted: AgentEvent[] = [];
  for (const [dialect, solve] of Object.entries(DIALECTS)) {
    await using opened = await openAgent(options);
    opened.agent.subscribe((event) => {
      if (event.type === "permission_asked" || (event.type === "tool_ended" && event.is_error))
        wasted.push(event);
    });
    for (const [at, [wrong, right, shown, printed]] of MISTAKES.entries()) {
      const file = `src/${dialect}-${at}.js`;
      const rest = `console.log(String(${shown}));`;
      writeFileSync(join(project.root, file), `${wrong}\n${rest}\n`);
      turns = [...solve({ root: project.root, file, wrong, right, rest }, at % 2 === 0)];
      counts.tasks++;
      counts.turns += turns.length + 1;
      await opened.agent.send(`Mend ${file}`);
      // Node itself says whether the task is solved.
      const { stdout } = spawnSync(process.execPath, [join(project.root, file)], { encoding: "utf8" });
      expect.soft(stdout, file).toBe(`${printed}\n`);
    }
  }
  expect(counts).toEqual({ tasks: 48, turns: expect.toSatisfy((turns: number) => turns > 200) });
  expect(wasted.length / counts.turns, JSON.stringify(wasted.slice(0, 5))).toBeLessThanOrEqual(0.02);
  // The text that the model got has short hashes and no undo refs.
  const results = provider.requests
    .flatMap(({ all_results }) => all_results.map(({ text }) => text))
    .join("\n");
  expect(results).not.toMatch(/sha256:|undo /);
}, 120_000);
