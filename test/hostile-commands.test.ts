import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createScriptedProvider, type ScriptedProvider } from "@octant/scripted-provider";
import { afterAll, beforeAll, expect, test } from "vitest";
import { COMMAND_NAMES } from "../packages/cli/src/commands/index.ts";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { HOSTILE, isHarmless } from "./hostile-characters.ts";
import { callOctant } from "./octant-in-process.ts";

/** The name of a file, and of a branch, that git accepts. */
const NAME = `${HOSTILE.replaceAll(/[\0/]/g, "").slice(0, 60)}.txt`;
const BRANCH = "\u202egnp\u3164\u200b";

/** Stands for the id of the session that the tests begin with. */
const SESSION = "SESSION";

/** What to call of each command, or why it has nothing to show on stdout and stderr. */
const CALLS: Readonly<Record<string, readonly (readonly string[])[] | string>> = {
  chat: "its screen has tests of its own",
  run: [
    ["run", "go", "--model", "m"],
    ["run", "go", "--model", "m", "--json"],
    ["run", "/help"],
    ["run", HOSTILE],
  ],
  sessions: [
    ["sessions"],
    ["sessions", "show", SESSION],
    ...["markdown", "html", "json"].map((format) => ["sessions", "export", SESSION, "--format", format]),
    ["sessions", "--json"],
    ["sessions", "show", HOSTILE],
  ],
  acp: "stdout is a protocol",
  undo: [["undo", "--list"], ["undo", "--dry-run"], ["undo"]],
  redo: [["redo", "--list"], ["redo"]],
  serve: "stdout is a protocol",
  worker: "stdout is a protocol",
  console: "it shows its own address",
  edge: "stdout is a protocol",
  bridge: "it shows its own address",
  hub: "it shows its own address",
  host: "it shows its own name and labels",
  call: [
    ["call", "fs.read", `uri=${NAME}`],
    ["call", "fs.list", "uri=."],
    ["call", "vcs.status"],
    ["call", "vcs.log", "--json"],
    ["call", "fs.read", `uri=${HOSTILE}`],
    ["call", HOSTILE],
  ],
  sandbox: [["sandbox"], ["sandbox", "--json"]],
  tools: [["tools"], ["tools", "--root", HOSTILE]],
  ps: [["ps"], ["ps", "--json"]],
  watch: [["watch", HOSTILE]],
  answer: [["answer"], ["answer", HOSTILE, "once"]],
  jobs: [["jobs"], ["jobs", "show", HOSTILE]],
  help: [
    ["help", "fs"],
    ["help", HOSTILE],
  ],
  config: [["config"], ["config", "explain", HOSTILE], ["config", "--json"]],
  trust: [
    ["trust", "--yes"],
    ["trust", "list"],
  ],
  policy: [
    ["policy", "explain", "fs.read", `uri=${NAME}`],
    ["policy", "explain", "proc.exec", `command=${HOSTILE}`],
  ],
  pack: [
    ["pack", "list"],
    ["pack", "add", HOSTILE],
    ["pack", "test", HOSTILE],
    ["pack", "new", HOSTILE],
  ],
  audit: [["audit"], ["audit", "--json"], ["audit", "verify"]],
  token: [
    ["token", "list"],
    ["token", "revoke", HOSTILE],
  ],
  setup: [
    ["setup", "--print", HOSTILE],
    ["setup", "--acp"],
  ],
  login: [["login", HOSTILE]],
  logout: [["logout", HOSTILE]],
  auth: [["auth", "status"]],
  mcp: [
    ["mcp", "list"],
    ["mcp", "test", HOSTILE],
    ["mcp", "import"],
  ],
  vectors: [["vectors", "run", HOSTILE]],
  doctor: [["doctor", "--root", HOSTILE]],
  completion: [["completion", "bash"]],
};

let project: FixtureProject;
let provider: ScriptedProvider;
let session = "";
const call = (args: readonly string[], isTTY: boolean) =>
  callOctant(
    args.map((arg) => (arg === SESSION ? session : arg)),
    {
      cwd: project.root,
      env: {
        ...project.env,
        ANTHROPIC_API_KEY: "sk-test-0123456789abcdef",
        ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
        OCTANT_DEBUG: "1",
      },
      isTTY,
    },
  );

beforeAll(async () => {
  project = createFixtureProject();
  const { root } = project;
  provider = await createScriptedProvider(({ results }) =>
    results.length === 0
      ? { parts: [{ text: HOSTILE }, { call: "fs", input: { action: "read", uri: NAME } }] }
      : { parts: [{ text: `${HOSTILE}\nan answer` }] },
  );
  writeFileSync(join(root, NAME), HOSTILE);
  execFileSync("git", ["checkout", "--quiet", "-b", BRANCH], { cwd: root });
  mkdirSync(join(root, ".hanzo"));
  const deny = [{ tool_pattern: "fs.rm", mode: "deny", reason: HOSTILE }];
  writeFileSync(
    join(root, ".hanzo/settings.json"),
    JSON.stringify({ permissions: deny, env: { A: HOSTILE.replaceAll("\0", "") } }),
  );
  writeFileSync(join(root, "AGENTS.md"), `Do this. ${HOSTILE}\n`);
  const first = await call(["run", HOSTILE, "--model", "m"], false);
  expect(first, first.stderr).toMatchObject({ code: 0 });
  session = JSON.parse((await call(["sessions", "--json"], false)).stdout)[0].session_id;
});
afterAll(async () => {
  await provider[Symbol.asyncDispose]();
  project[Symbol.dispose]();
});

test("every command has a row", () => {
  expect(Object.keys(CALLS).sort()).toEqual([...COMMAND_NAMES].sort());
});

const rows = Object.values(CALLS).flatMap((calls) => (typeof calls === "string" ? [] : calls));

test.each(
  rows.map((args) => ({
    args,
    label: args
      .join(" ")
      .replaceAll(/[^\w ./=-]+/g, "…")
      .slice(0, 50),
  })),
)("hostile text is shown, not obeyed, by octant $label", async ({ args }) => {
  const { stdout, stderr, code } = await call(args, true);
  expect(stdout + stderr).not.toBe("");
  if (args.includes(SESSION)) expect(code, stderr).toBe(0);
  expect(stdout.replaceAll("\r\x1b[K", "")).toSatisfy(isHarmless);
  expect(stderr.replaceAll("\r\x1b[K", "")).toSatisfy(isHarmless);
});

test("a pipe receives the model's answer and an export as they are", async () => {
  const answer = await call(["run", "go", "--model", "m"], false);
  expect(answer.stdout).toBe(`${HOSTILE.toWellFormed()}\nan answer\n`);
  const exported = await call(["sessions", "export", SESSION, "--format", "json"], false);
  expect(JSON.stringify(JSON.parse(exported.stdout))).toContain("an answer");
});
