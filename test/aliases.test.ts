import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createOctant } from "@octant/app";
import { ALIASES, type AnyAction, kindOfArgument, resolveAliases } from "@octant/core";
import { afterAll, expect, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { OTHER_AGENTS } from "./other-agents.ts";

const project = createFixtureProject();
mkdirSync(join(project.root, ".hanzo"), { recursive: true });
writeFileSync(join(project.root, "denied.txt"), "hidden content\n");
writeFileSync(
  join(project.root, ".hanzo/settings.json"),
  JSON.stringify({ permissions: [{ tool_pattern: "*", mode: "deny", args: { path: "denied.txt" } }] }),
);
const enable = ["core", "notes", "agents"] as const;
const octant = createOctant({ projectPath: project.root, env: project.env, toolConfig: { enable } });
const closed = createOctant({
  projectPath: project.root,
  env: project.env,
  toolConfig: { enable },
  config: { ...octant.config, permissions: [{ tier: "user", rules: [{ tool_pattern: "*", mode: "deny" }] }] },
});
afterAll(async () => {
  await octant.close();
  await closed.close();
  project[Symbol.dispose]();
});

const caller = { id: "model", access: "admin" } as const;
const { registry } = octant;
const exampleOf = (act: AnyAction) => act.examples[0].input as Record<string, unknown>;
const ACTIONS = registry
  .list()
  .flatMap((tool) => Object.entries(tool.actions).map(([name, act]) => ({ tool: tool.name, name, act })))
  .filter(({ act }) => !act.builtin);

/** Every way to call an action by an alias: of its tool, of its name, of each parameter. */
const CALLS = ACTIONS.flatMap(({ tool, name, act }) => {
  const input = exampleOf(act);
  const real = { tool, action: name, input };
  const byTool = (ALIASES.tools as Record<string, string>)[`${tool}.${name}`]?.split(" ") ?? [];
  const byAction =
    (ALIASES.actions as Record<string, Record<string, string>>)[tool]?.[name]?.split(" ") ?? [];
  const renamed = Object.keys(input).flatMap((parameter) =>
    ((ALIASES.parameters as Record<string, string>)[parameter]?.split(" ") ?? [])
      .filter((alias) => !Object.hasOwn(act.input.shape, alias))
      .map((alias) => {
        const { [parameter]: value, ...rest } = input;
        return { ...rest, [alias]: value };
      }),
  );
  return [
    ...byTool.map((alias) => ({ real, call: { tool: alias, action: "", input } })),
    { real, call: { tool: `${tool}.${name}`, action: "", input } },
    { real, call: { tool: `${tool}_${name}`, action: undefined, input } },
    ...byAction.map((alias) => ({ real, call: { tool, action: alias, input } })),
    ...renamed.map((given) => ({ real, call: { tool, action: name, input: given } })),
  ];
});

test("every alias is the call that it stands for, and a rule that denies the action denies it", async () => {
  expect(CALLS.length).toBeGreaterThan(300);
  const wrong: unknown[] = [];
  for (const { real, call } of CALLS) {
    const found = resolveAliases(registry, call);
    if (found.tool !== real.tool || found.action !== real.action) wrong.push({ call, found });
    const { envelope } = await closed.dispatch(call, { caller });
    const { envelope: expected } = await closed.dispatch(real, { caller });
    if (envelope.error?.code !== expected.error?.code || envelope.ok) wrong.push({ call, envelope });
    if (envelope.meta.tool !== real.tool || envelope.meta.action !== real.action) wrong.push(envelope.meta);
  }
  expect(wrong).toEqual([]);
});

test("no alias of a path gets around a rule about that path", async () => {
  let tried = 0;
  for (const { tool, name, act } of ACTIONS)
    for (const [parameter, schema] of Object.entries(act.input.shape)) {
      // The values of a shape are schemas.
      if (!["path", "tree"].includes(kindOfArgument(schema as Parameters<typeof kindOfArgument>[0]) ?? ""))
        continue;
      const aliases = (ALIASES.parameters as Record<string, string>)[parameter]?.split(" ") ?? [];
      for (const alias of aliases.filter((one) => !Object.hasOwn(act.input.shape, one))) {
        const { [parameter]: _, ...rest } = exampleOf(act);
        const input = { ...rest, [alias]: "denied.txt" };
        const { envelope } = await octant.dispatch({ tool, action: name, input }, { caller });
        tried++;
        expect(JSON.stringify(envelope.data ?? ""), `${tool}.${name} ${alias}`).not.toContain(
          "hidden content",
        );
        if (name === "read" || name === "write") expect(envelope.error?.code).toBe("PERMISSION_DENIED");
      }
    }
  expect(tried).toBeGreaterThan(30);
});

test("real names win, unknown ones stay unknown, and one that is given twice is refused", async () => {
  const same = (call: Parameters<typeof resolveAliases>[1]) =>
    expect(resolveAliases(registry, call)).toEqual(call);
  for (const { tool, name, act } of ACTIONS)
    for (const { input } of act.examples) same({ tool, action: name, input });
  same({ tool: "frobnicate", action: "", input: {} });
  same({ tool: "fs", action: "frobnicate", input: {} });
  same({ tool: "constructor", action: "", input: {} });
  same({ tool: "fs", action: "__proto__", input: {} });
  const { envelope } = await octant.dispatch(
    { tool: "fs", action: "read", input: { uri: "README.md", path: "denied.txt" } },
    { caller },
  );
  expect(envelope.error?.code).toBe("INVALID_ARGUMENT");
});

/** Each tool of another agent with its required parameters, with each optional one, and with all of them. */
const FOREIGN = OTHER_AGENTS.flatMap(({ agent, name, means, required, optional = {} }) => {
  const one = Object.entries(optional).map(([key, value]) => ({ ...required, [key]: value }));
  return [required, ...one, { ...required, ...optional }].map((input) => ({ agent, name, means, input }));
});

test("every call by the schema of another agent's tool is a valid call of ours", () => {
  expect(FOREIGN.length).toBeGreaterThan(150);
  const wrong = FOREIGN.flatMap(({ agent, name, means, input }) => {
    const call = resolveAliases(registry, { tool: name, action: undefined, input });
    const act = registry.get(call.tool)?.actions[String(call.action)];
    const parsed = act?.input.safeParse(call.input);
    if (`${call.tool}.${call.action}` === means && parsed?.success) return [];
    return [{ agent, name, given: input, call, issues: parsed?.error?.message }];
  });
  expect(wrong).toEqual([]);
});

test("a wish for more rights in a call of another agent's form grants none", () => {
  for (const wish of ["with_escalated_permissions", "dangerouslyDisableSandbox", "additional_permissions"]) {
    const input = { command: "ls", [wish]: true };
    const { input: resolved } = resolveAliases(registry, { tool: "shell", action: "", input });
    expect(resolved).toEqual({ command: "ls" });
  }
});

test("a command is a patch only when it is nothing else", () => {
  const patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";
  for (const command of [
    `cd src && apply_patch <<'EOF'\n${patch}EOF`,
    `apply_patch <<'EOF'\n${patch}EOF\nrm -rf x`,
    `apply_patch <<'EOF' && rm x\n${patch}EOF`,
    ["apply_patch", patch, "more"],
    ["apply_patch", "--help"],
    "apply_patch",
  ]) {
    const call = { tool: "proc", action: "exec", input: { command } };
    expect(resolveAliases(registry, call)).toEqual(call);
  }
});

test("aliases are listed nowhere", () => {
  const listed = JSON.stringify(registry.list().flatMap((tool) => [tool.summary, Object.keys(tool.actions)]));
  for (const alias of ["bash", "str_replace", "old_string", "file_path", "todowrite"])
    expect(listed).not.toContain(alias);
});

const ENVELOPE = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";

test("an edit that says no new text removes nothing, unless it is one of Anthropic's editor", () => {
  const edited = (input: object) =>
    Object(resolveAliases(registry, { tool: "fs", action: "apply_patch", input }).input).patch;
  expect(edited({ uri: "a", old_str: "x" })).toEqual([{ op: "replace", old: "x", new: "" }]);
  for (const input of [
    { uri: "a", old: "x" },
    { uri: "a", patch: [{ op: "replace", old: "x" }] },
    { uri: "a", old_string: "x" },
  ])
    expect(
      registry.get("fs")?.actions["apply_patch"]?.input.safeParse({ uri: "a", patch: edited(input) }).success,
    ).toBe(false);
});

const MEANINGS: readonly (readonly [Parameters<typeof resolveAliases>[1], object])[] = [
  [
    { tool: "shell", action: "", input: { command: ["bash", "-lc", "ls | wc -l"] } },
    { command: "ls | wc -l" },
  ],
  [
    { tool: "proc", action: "exec", input: { command: ["/bin/sh", "-c", "ls"], shell: "dash" } },
    { command: ["/bin/sh", "-c", "ls"], shell: "dash" },
  ],
  [
    { tool: "proc", action: "exec", input: { command: ["bash", "-c", "echo $0", "name"] } },
    { command: ["bash", "-c", "echo $0", "name"] },
  ],
  [
    { tool: "bash", action: "", input: { command: "ls", description: "List", timeout_ms: 5 } },
    { command: "ls", timeout: 5 },
  ],
  [
    { tool: "fs", action: "edit", input: { file_path: "a", old_string: "x", new_string: "y" } },
    { uri: "a", patch: [{ op: "replace", old: "x", new: "y" }] },
  ],
  [
    {
      tool: "MultiEdit",
      action: "",
      input: { file_path: "a", edits: [{ old_string: "x", new_string: "y" }] },
    },
    { uri: "a", patch: [{ op: "replace", old: "x", new: "y" }] },
  ],
  [
    { tool: "Read", action: "", input: { file_path: "a", offset: 5, limit: 10 } },
    { uri: "a", lines: "5-14" },
  ],
  [
    { tool: "view", action: "", input: { path: "a", view_range: [1, 3] } },
    { uri: "a", lines: "1-3" },
  ],
  [
    { tool: "grep", action: "", input: { query: "x", include: "*.ts" } },
    { pattern: "x", glob: "*.ts" },
  ],
  [
    { tool: "glob", action: "", input: { pattern: "**/*.ts", path: "src" } },
    { pattern: "**/*.ts", uri: "src" },
  ],
  [
    { tool: "plan", action: "create", input: { title: "t", steps: ["one", "two"] } },
    { title: "t", steps: [{ content: "one" }, { content: "two" }] },
  ],
  [
    { tool: "proc", action: "exec", input: { command: "ls", wait: "100", background: "true" } },
    { command: "ls", wait: 100, background: true },
  ],
  [
    {
      tool: "fs",
      action: "apply_patch",
      input: { uri: "a", patch: '[{"op":"replace","old":"x","new":"y"}]' },
    },
    { uri: "a", patch: [{ op: "replace", old: "x", new: "y" }] },
  ],
  [
    { tool: "fs", action: "apply_patch", input: { uri: "a", old: "x", new: "y", replace_all: true } },
    { uri: "a", patch: [{ op: "replace", old: "x", new: "y", count: "all" }] },
  ],
  [
    { tool: "Glob", action: "", input: { pattern: "/w/src/**/*.js" } },
    { uri: "/w/src", pattern: "**/*.js" },
  ],
  [
    { tool: "Glob", action: "", input: { pattern: "./src/*.js", path: "a" } },
    { uri: "a", pattern: "src/*.js" },
  ],
  [
    { tool: "grep", action: "", input: { pattern: "x", path: ".", glob: "~/src/a*.js" } },
    { pattern: "x", path: "~/src", glob: "a*.js" },
  ],
  ...["```\nPATCH```", "<<'EOF'\nPATCHEOF", "PATCHEOF", "PATCH```"].map(
    (form) =>
      [
        { tool: "apply_patch", action: "", input: { input: form.replace("PATCH", ENVELOPE) } },
        { patch: ENVELOPE },
      ] as const,
  ),
  [{ tool: "apply_patch", action: "", input: { input: ENVELOPE.replace(/^.*\n/, "") } }, { patch: ENVELOPE }],
];

/** Names with a prefix, wrapped parameters, and calls that name no action. */
const NAMES: readonly (readonly [Parameters<typeof resolveAliases>[1], string])[] = [
  [{ tool: "functions.fs", action: "read", input: { uri: "a" } }, "fs.read"],
  [{ tool: "functions.read_file", action: "", input: { path: "a" } }, "fs.read"],
  [{ tool: "mcp__octant__fs", action: "read", input: { uri: "a" } }, "fs.read"],
  [{ tool: "container.exec", action: "", input: { cmd: ["ls"] } }, "proc.exec"],
  [{ tool: "fs", action: "read", input: { parameters: { uri: "a" } } }, "fs.read"],
  [{ tool: "fs", action: undefined, input: { path: "a" } }, "fs.read"],
  [{ tool: "fs", action: undefined, input: { path: "a", content: "x" } }, "fs.write"],
  [{ tool: "proc", action: "", input: { cmd: "ls" } }, "proc.exec"],
  [{ tool: "search", action: "", input: { query: "x" } }, "search.query"],
  [{ tool: "net", action: "", input: { url: "https://example.com/" } }, "net.request"],
  [{ tool: "test", action: "", input: {} }, "test.run"],
  [{ tool: "think", action: "", input: { thought: "x" } }, "think.think"],
  [{ tool: "agent", action: "", input: { role: "explore", prompt: "x" } }, "agent.spawn"],
  [{ tool: "search", action: "grep", input: { pattern: "x" } }, "fs.search_text"],
  [{ tool: "code", action: "find_references", input: { symbol_id: "sym:a#b" } }, "code.references"],
  [{ tool: "plan", action: "create", input: { steps: ["a", "b"] } }, "plan.create"],
];

test.each(NAMES)("%j is a valid call of %s", (given, name) => {
  const { tool, action, input } = resolveAliases(registry, given);
  expect(`${tool}.${action}`).toBe(name);
  expect(registry.get(tool)?.actions[String(action)]?.input.safeParse(input).error).toBeUndefined();
});

test("a call without an action that fits none stays without, and one with an unknown tool as it is", () => {
  for (const call of [
    { tool: "fs", action: "", input: { frobnicate: 1 } },
    { tool: "fs", action: undefined, input: "text" },
    { tool: "functions.frobnicate", action: "", input: {} },
  ])
    expect(resolveAliases(registry, call)).toEqual(call);
});

test("a call that has no like here is answered with what to do instead", async () => {
  for (const [tool, action, part] of [
    ["fs", "move", "proc.exec with mv"],
    ["vcs", "push", "proc.exec with git"],
    ["TaskCreate", "", "plan.create"],
    ["multi_tool_use.parallel", "", "several tools in one answer"],
    ["attempt_completion", "", "answer in words"],
  ] as const) {
    const { envelope } = await octant.dispatch({ tool, action, input: {} }, { caller });
    expect(envelope.error?.message).toContain(part);
  }
});

test.each(MEANINGS)("%j means %j", (call, input) => {
  expect(resolveAliases(registry, call).input).toEqual(input);
});

test("values that no form has are refused as invalid, not as a bug", async () => {
  // It cannot be made a text or a number.
  const odd = { toString: 1, valueOf: 1 };
  for (const [tool, action, input] of [
    ["proc", "exec", { command: [odd, "-c", "ls"] }],
    ["proc", "exec", { command: ["apply_patch", odd] }],
    ["fs", "search_text", { query: "a", "-A": odd }],
    ["fs", "read", { uri: "README.md", offset: odd, limit: odd }],
    ["fs", "read", { uri: "README.md", view_range: [odd, odd] }],
  ] as const) {
    const { envelope } = await octant.dispatch({ tool, action, input }, { caller });
    expect(envelope).toMatchObject({ ok: false, error: { code: "INVALID_ARGUMENT" } });
  }
});
