import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createOctant } from "@octant/app";
import { expect, test } from "vitest";
import { listCommands } from "../packages/app/src/slash/index.ts";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { openSlashSession } from "./slash-session.ts";

const homeOf = ({ env }: FixtureProject) => env["HOME"] ?? "";

function write(base: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  }
}

const skillText = (name: string, description: string, body = `Do ${name} with $ARGUMENTS.`) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`;

const caller = { id: "test", access: "admin" } as const;

/** The answer of `ws.skill` on the defaults. */
async function readSkill(project: FixtureProject, input: object) {
  await using octant = createOctant({ projectPath: project.root, env: project.env });
  return (await octant.dispatch({ tool: "ws", action: "skill", input }, { caller })).envelope;
}

const trust = (project: FixtureProject) =>
  callOctant(["trust", "--yes"], { cwd: project.root, env: project.env });

test("the model gets one line per skill, reads one on demand, and runs its script in the sandbox", async () => {
  using project = createFixtureProject();
  const script = ".claude/skills/greet/scripts/hello.sh";
  write(homeOf(project), {
    ".claude/skills/greet/SKILL.md": skillText("greet", "Greets people. Use when: someone arrives"),
    [script]: "#!/bin/sh\necho hello from the script\n",
    ".claude/settings.json": "not for commands",
    ".agents/skills/long/SKILL.md": skillText("long", "word ".repeat(150)),
  });
  chmodSync(join(homeOf(project), script), 0o755);
  let results: string[] = [];
  await using session = await openSlashSession(project, ({ answers, all_results }) => {
    results = all_results.map(({ text }) => text);
    const folder = join(homeOf(project), ".claude/skills/greet");
    const calls = [
      { call: "ws", input: { action: "skill", name: "greet" } },
      { call: "ws", input: { action: "skill", name: "greet", path: "scripts/hello.sh" } },
      {
        call: "proc",
        input: { action: "exec", command: `${folder}/scripts/hello.sh; cat ${folder}/../../settings.json` },
      },
    ];
    const next = calls[answers];
    return { parts: [next ?? { text: "done" }] };
  });
  session.opened.octant.sessionRules.setRule(session.opened.agent.session.id, {
    tool_pattern: "proc",
    mode: "allow",
  });
  await session.opened.agent.send("go");
  const system = session.provider.requests[0]?.system ?? "";
  expect(system).toContain("\n- greet: Greets people. Use when: someone arrives\n");
  expect(system.split("\n").find((line) => line.startsWith("- long: "))?.length).toBeLessThan(260);
  expect(results[0]).toContain("Do greet with $ARGUMENTS.");
  expect(results[1]).toContain("echo hello from the script");
  expect(results[2]).toMatch(/^hello from the script$/m);
  expect(results[2]).not.toContain("not for commands");
});

test("a skill of the project waits for trust, and again when any of its files has changed", async () => {
  using project = createFixtureProject();
  const script = join(project.root, ".agents/skills/build/scripts/build.sh");
  write(project.root, {
    ".agents/skills/build/SKILL.md": skillText("build", "Builds it."),
    ".agents/skills/build/scripts/build.sh": "echo one\n",
  });
  const isRefused = async () => {
    expect((await readSkill(project, {})).data).toEqual({ skills: [] });
    expect((await readSkill(project, { name: "build" })).error).toMatchObject({
      code: "UNTRUSTED_CONFIG",
      details: { waiting: [".agents/skills/build"] },
    });
    await using session = await openSlashSession(project, () => ({ parts: [{ text: "ok" }] }));
    expect(session.opened.untrusted).toEqual([".agents/skills/build"]);
    await expect(session.run("/build it")).rejects.toMatchObject({ code: "UNTRUSTED_CONFIG" });
    expect(await session.run("/skills")).toContain("has no effect until you trust it");
    await session.opened.agent.send("go");
    expect(session.provider.requests[0]?.system).not.toContain("Builds it");
  };
  await isRefused();
  const shown = await callOctant(["trust", "--json"], { cwd: project.root, env: project.env });
  expect(shown.stdout).toContain("scripts/build.sh (9 bytes)");
  expect((await trust(project)).code).toBe(0);
  expect((await readSkill(project, { name: "build", path: "scripts/build.sh" })).data).toMatchObject({
    text: "echo one\n",
    files: ["SKILL.md", "scripts/build.sh"],
  });
  writeFileSync(script, "echo two\n");
  await isRefused();
  await trust(project);
  chmodSync(script, 0o755);
  await isRefused();
});

test("/name sends the skill with the text after it; heads of Claude Code are honoured or named as ignored", async () => {
  using project = createFixtureProject();
  write(homeOf(project), {
    ".claude/skills/fix-issue/SKILL.md":
      "---\nname: fix-issue\ndescription: Fixes\nargument-hint: NUMBER\nallowed-tools: Bash(git:*)\ncontext: fork\n---\nFix $1 and note $2; all: $ARGUMENTS.\n",
    ".claude/skills/hidden/SKILL.md":
      "---\nname: hidden\ndescription: For people\ndisable-model-invocation: true\n---\nOnly typed.\n",
    ".claude/skills/quiet/SKILL.md":
      "---\nname: quiet\ndescription: For the model\nuser-invocable: false\n---\nOnly read.\n",
    ".claude/skills/commit/SKILL.md": skillText("commit", "Takes the place of a command"),
  });
  await using session = await openSlashSession(project, () => ({ parts: [{ text: "ok" }] }));
  const { opened, cwd } = session;
  const send = async (line: string) => {
    const { runSlashLine } = await import("../packages/app/src/slash/index.ts");
    return (await runSlashLine(line, { opened, cwd, signal: new AbortController().signal }))?.send;
  };
  expect(await send('/fix-issue 12 "two words"')).toContain(
    'Fix 12 and note two words; all: 12 "two words".',
  );
  expect(await send("/hidden and more")).toMatch(/Only typed\.\n\nand more$/);
  const commands = listCommands(opened);
  expect(commands.find(({ name }) => name === "fix-issue")).toMatchObject({ argument: "NUMBER" });
  expect(commands.filter(({ name }) => name === "quiet")).toEqual([]);
  expect(commands.filter(({ name }) => name === "commit")).toHaveLength(1);
  const listed = await session.run("/skills");
  expect(listed).toContain("ignored: allowed-tools, context");
  await opened.agent.send("go");
  const system = session.provider.requests[0]?.system ?? "";
  expect(system).toContain("- quiet: For the model");
  expect(system).not.toContain("For people");
});

const ESC = "\x1b";

/** What a stranger's project can put there, and what is left of it. */
const HOSTILE: readonly (readonly [what: string, plant: (folder: string) => void, shown: RegExp])[] = [
  [
    "a SKILL.md of 2 MB",
    (at) => write(at, { "SKILL.md": `${skillText("x", "big")}${"x".repeat(2e6)}` }),
    /^no skills/,
  ],
  [
    "a file too large",
    (at) => write(at, { "SKILL.md": skillText("x", "d"), big: "x".repeat(9e6) }),
    /more than 8388608 bytes/,
  ],
  [
    "too many files",
    (at) =>
      write(at, {
        "SKILL.md": skillText("x", "d"),
        ...Object.fromEntries(Array.from({ length: 301 }, (_, i) => [`f${i}`, ""])),
      }),
    /more than 300 files/,
  ],
  [
    "deep folders",
    (at) => write(at, { "SKILL.md": skillText("x", "d"), "a/b/c/d/e/f/g/h/i/j": "" }),
    /nested more than 8 deep/,
  ],
  [
    "a YAML bomb",
    (at) =>
      write(at, { "SKILL.md": `---\na: &a [x,x,x,x]\nb: &b [*a,*a,*a]\ndescription: [*b,*b,*b]\n---\nx\n` }),
    /until you trust it/,
  ],
  ["no description", (at) => write(at, { "SKILL.md": "---\nname: x\n---\nx\n" }), /has no description/],
  ["a link as the folder", (at) => symlinkSync("/etc", at), /^no skills|out of the project/],
  [
    "a link as SKILL.md",
    (at) => {
      mkdirSync(at);
      symlinkSync("/etc/passwd", join(at, "SKILL.md"));
    },
    /^no skills/,
  ],
];

test.each(HOSTILE)("%s has no effect", async (_what, plant, shown) => {
  using project = createFixtureProject();
  const parent = join(project.root, ".claude/skills");
  mkdirSync(parent, { recursive: true });
  plant(join(parent, "x"));
  await using session = await openSlashSession(project, () => ({ parts: [{ text: "ok" }] }));
  const text = await session.run("/skills");
  expect(text).toMatch(shown);
  expect(text.length).toBeLessThan(2_000);
  expect((await readSkill(project, {})).data).toEqual({ skills: [] });
});

test("characters that a terminal obeys are shown as codes, and a link out of the folder is not read", async () => {
  using project = createFixtureProject();
  write(project.root, {
    ".claude/skills/x/SKILL.md": skillText("x", `"a\\e[31mb\\nc${ESC}[0m\u202e"`),
    "outside.md": "OUTSIDE",
  });
  const folder = join(project.root, ".claude/skills/x");
  symlinkSync("../../../outside.md", join(folder, "leak.md"));
  await trust(project);
  expect((await readSkill(project, {})).data).toEqual({
    skills: [{ name: "x", description: "a\\x1b[31mb c\\x1b[0m\\u{202e}" }],
  });
  for (const path of ["leak.md", "../../../outside.md", "/etc/passwd", join(project.root, "outside.md"), "."])
    expect((await readSkill(project, { name: "x", path })).error, path).toMatchObject({ code: "NOT_FOUND" });
});

test("the person's own skill keeps its name, and a rule that denies a path holds for a skill's file", async () => {
  using project = createFixtureProject();
  write(homeOf(project), { ".claude/skills/x/SKILL.md": skillText("x", "Mine") });
  write(project.root, {
    ".claude/skills/x/SKILL.md": skillText("x", "Theirs"),
    ".claude/skills/y/SKILL.md": skillText("y", "Other"),
    ".claude/skills/y/secret.md": "SECRET",
  });
  await trust(project);
  write(homeOf(project), {
    ".config/hanzo/settings.json": JSON.stringify({
      permissions: [{ tool_pattern: "*", mode: "deny", args: { path: ["**/secret.md"] } }],
    }),
  });
  expect((await readSkill(project, {})).data).toEqual({
    skills: [
      { name: "x", description: "Mine" },
      { name: "y", description: "Other" },
    ],
  });
  expect((await readSkill(project, { name: "y", path: "secret.md" })).error).toMatchObject({
    code: "NOT_FOUND",
  });
  expect(readFileSync(join(project.root, ".claude/skills/y/secret.md"), "utf8")).toBe("SECRET");
});
