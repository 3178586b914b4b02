import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { createWorkspace } from "@octant/host";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { expect, test, vi } from "vitest";
import type { Io } from "../packages/cli/src/command.ts";
import { redo, undo } from "../packages/cli/src/commands/undo.ts";
import { openOctant } from "../packages/cli/src/open-octant.ts";
import { parseCommand } from "../packages/cli/src/parse-command.ts";
import { showFailure } from "../packages/cli/src/show-answer.ts";
import { AGENT_HOSTS, type AgentHost, placeSession } from "./agent-hosts.ts";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { startSession } from "./mcp-session.ts";
import { runOctant, startOctant } from "./octant-process.ts";
import { accountAt } from "./scripted-account.ts";

const shell = (command: string) => ({ call: "proc", input: { action: "exec", command } });

async function runAgent(
  project: FixtureProject,
  script: Script,
  prompt: string,
  { code = 0, host = "local" }: { readonly code?: number; readonly host?: AgentHost } = {},
) {
  await using place = await placeSession(host, project);
  await using provider = await createScriptedProvider(script);
  const env = {
    ...project.env,
    ...accountAt(provider),
  };
  const flags = ["--allow", "*", "--provider", "anthropic", "--model", "m", ...place.flags];
  const ran = await runOctant(["run", prompt, ...flags], { cwd: place.cwd, env });
  expect(ran.code, ran.stderr).toBe(code);
  return ran;
}

/** A turn of an agent, without the agent. */
async function makeTurn(
  { root, env }: FixtureProject,
  label: string,
  change: () => void,
  isCommand = false,
): Promise<void> {
  const workspace = createWorkspace({ roots: [root], env, warn: (message) => expect.unreachable(message) });
  const turn = workspace.checkpoints.openTurn(label, { session_id: "ses_other" });
  await workspace.checkpoints.during("call", async () => change(), isCommand);
  await turn.end();
  await workspace.close();
}

const octant = (project: FixtureProject, ...args: string[]) =>
  runOctant(args, { cwd: project.root, env: project.env });

function createIo({ root, env }: FixtureProject) {
  const written = { stdout: "", stderr: "" };
  const writer = (name: keyof typeof written) =>
    new Writable({
      write(chunk, _encoding, done) {
        written[name] += chunk;
        done();
      },
    });
  const io = { stdin: {}, stdout: writer("stdout"), stderr: writer("stderr"), env, cwd: () => root };
  // These commands use no other part of the streams.
  return { io: io as unknown as Io, written };
}

/** The same command in this process, which takes a fraction of the time. */
async function octantHere(project: FixtureProject, name: "undo" | "redo", ...args: string[]) {
  const { io, written } = createIo(project);
  const command = { undo, redo }[name];
  const run = async () => command.run(parseCommand(command, args, io.env), io);
  const code = await run().catch((cause) => showFailure(cause, io));
  return { code, ...written };
}
const read = (project: FixtureProject, path: string) => readFileSync(join(project.root, path), "utf8");

/** A command of each kind whose previous state no tool would have stored. */
const WRECK =
  "rm -rf src; echo new > made.txt; sed -i s/small/big/ README.md; mkdir -p deep/er; chmod 600 README.md";

test.each(AGENT_HOSTS)(
  "octant undo reverts a whole turn of a %s host, including commands, and octant redo repeats it",
  async (host) => {
    using project = createFixtureProject();
    const before = read(project, "README.md");
    const main = read(project, "src/main.ts");
    const index = readFileSync(join(project.root, ".git/index"));
    await runAgent(project, [{ parts: [shell(WRECK)] }, { parts: [{ text: "done" }] }], "tidy up", { host });
    expect(existsSync(join(project.root, "src"))).toBe(false);

    const listed = await octantHere(project, "undo", "--list");
    expect(listed.stdout).toContain("tidy up");
    const looked = await octantHere(project, "undo", "--dry-run");
    expect(looked.stdout).toMatch(/^would be undone: tidy up\n/);
    expect(looked.stdout).toContain("-A big project.\n+A small project.");
    expect(existsSync(join(project.root, "src"))).toBe(false);

    const undone = await octant(project, "undo");
    expect(undone).toMatchObject({ code: 0 });
    expect(undone.stdout).toContain("undone: tidy up\n");
    expect(undone.stdout).toContain("  removed made.txt\n");
    expect(read(project, "README.md")).toBe(before);
    expect(read(project, "src/main.ts")).toBe(main);
    expect(existsSync(join(project.root, "deep"))).toBe(false);
    expect(readFileSync(join(project.root, ".git/index")).equals(index)).toBe(true);

    expect(await octantHere(project, "undo")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("nothing to undo"),
    });
    expect(await octant(project, "redo")).toMatchObject({ code: 0 });
    expect(existsSync(join(project.root, "src"))).toBe(false);
    expect(read(project, "made.txt")).toBe("new\n");
    expect(await octantHere(project, "redo")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("nothing to redo"),
    });
  },
);

test("an undo merges the person's later changes, and overwrites them only on request", async () => {
  using project = createFixtureProject();
  const lines = Array.from({ length: 12 }, (_, at) => `line ${at}`);
  const write = (changed: Record<number, string>) =>
    writeFileSync(
      join(project.root, "list.txt"),
      `${lines.map((line, at) => changed[at] ?? line).join("\n")}\n`,
    );
  write({});
  await makeTurn(project, "shout", () => {
    write({ 1: "LINE 1" });
    appendFileSync(join(project.root, "README.md"), "x\n");
  });
  write({ 1: "LINE 1", 9: "mine" });
  const merged = await octantHere(project, "undo");
  expect(merged.stdout).toContain("merged list.txt");
  expect(read(project, "list.txt").split("\n").slice(1, 10)).toEqual([...lines.slice(1, 9), "mine"]);

  await octantHere(project, "redo");
  expect(read(project, "list.txt")).toContain("LINE 1\n");
  expect(read(project, "list.txt")).toContain("mine\n");
  write({ 1: "also mine" });
  const refused = await octantHere(project, "undo");
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("nothing was changed: you changed list.txt too");
  expect(read(project, "README.md")).toContain("x\n");
  expect(await octantHere(project, "undo", "--keep")).toMatchObject({ code: 0 });
  expect(read(project, "list.txt")).toContain("also mine\n");
  expect(read(project, "README.md")).not.toContain("x\n");
  await octantHere(project, "redo", "--keep");
  expect(await octantHere(project, "undo", "--overwrite")).toMatchObject({ code: 0 });
  expect(read(project, "list.txt")).toBe(`${lines.join("\n")}\n`);
});

test("with --checkpoints proc.exec returns an undo ref, and names files that are too large to be stored", async () => {
  using project = createFixtureProject();
  const { root: cwd, env } = project;
  {
    await using plain = await openOctant({}, createIo(project).io);
    expect(await plain.client.proc.exec({ command: "echo a > a.txt" })).not.toHaveProperty("undo");
  }
  await using session = await startSession(["--checkpoints"], { cwd, env });
  expect((await session.exec("ls")).data).not.toHaveProperty("undo");
  const { data } = await session.exec(WRECK);
  expect(data).toMatchObject({ exit_code: 0, undo: expect.stringMatching(/^blob:sha256:/) });
  const undone = await session.call("fs", { action: "apply_patch", patch: data?.["undo"] });
  expect(undone).toMatchObject({ ok: true });
  expect(read(project, "src/main.ts")).toContain("42");
  expect(existsSync(join(cwd, "made.txt"))).toBe(false);

  const { data: grown } = await session.exec("truncate --size 33M big.bin; rm README.md");
  expect(grown?.["note"]).toMatch(
    /undo leaves entries that checkpoints do not cover: file:.*big\.bin \(too large\)$/,
  );
  expect((await session.call("fs", { action: "apply_patch", patch: grown?.["undo"] })).ok).toBe(true);
  expect(existsSync(join(cwd, "README.md"))).toBe(true);
  expect(existsSync(join(cwd, "big.bin"))).toBe(true);
});

test("after kill -9 in a turn its work is reverted; files that the person may have changed stay until they say so", async () => {
  using project = createFixtureProject();
  const started = join(project.root, "started");
  await using provider = await createScriptedProvider([
    { parts: [shell("rm src/main.ts")] },
    { parts: [shell("echo y >> README.md; touch started; sleep 60")] },
  ]);
  const child = startOctant(["run", "break it", "--allow", "*", "--provider", "anthropic", "--model", "m"], {
    cwd: project.root,
    env: {
      ...project.env,
      ...accountAt(provider),
    },
  });
  child.stdin.end();
  await expect.poll(() => existsSync(started) || child.exitCode !== null, { timeout: 60_000 }).toBe(true);
  child.kill("SIGKILL");
  await once(child, "exit");
  rmSync(started);
  expect((await octantHere(project, "undo", "--list")).stdout).toContain("cut off");
  writeFileSync(join(project.root, "mine.txt"), "mine\n");
  const asked = await octantHere(project, "undo");
  const why = "a command, or you while it ran, changed README.md, mine.txt";
  expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining(`nothing was changed: ${why};`) });
  expect(existsSync(join(project.root, "src/main.ts"))).toBe(false);
  const rewind = ["run", "/rewind 1 files", "--continue", "--provider", "anthropic", "--model", "m"];
  const env = { ...project.env, ...accountAt(provider) };
  const rewound = await runOctant(rewind, { cwd: project.root, env });
  expect(rewound.stdout.replaceAll("`", "")).toContain("files as they were: src/main.ts");
  const left =
    /left alone, because a command, or you while it ran, changed them: README.md, mine.txt; \/undo (\d+) overwrite/;
  const [, turn = ""] =
    left.exec(rewound.stdout.replaceAll("`", "")) ?? expect.fail(rewound.stdout + rewound.stderr);
  expect(read(project, "src/main.ts")).toContain("42");
  expect([read(project, "README.md").endsWith("y\n"), read(project, "mine.txt")]).toEqual([true, "mine\n"]);
  const overwritten = await octantHere(project, "undo", "--turn", turn, "--overwrite");
  expect(overwritten.stdout).toContain("  undone too: README.md\n  undone too: mine.txt\n");
  expect(read(project, "README.md")).not.toContain("y\n");
  expect(existsSync(join(project.root, "mine.txt"))).toBe(false);
});

test("an undo leaves a file that is too large to be stored, and restores the rest", async () => {
  using project = createFixtureProject();
  await makeTurn(project, "grow", () => {
    writeFileSync(join(project.root, "big.bin"), Buffer.alloc(33 * 1024 * 1024));
    rmSync(join(project.root, "README.md"));
    writeFileSync(join(project.root, "made.txt"), "new\n");
  });
  const undone = await octantHere(project, "undo");
  expect(undone.stdout).toContain("  not undone, because it is too large to be stored: big.bin\n");
  expect(existsSync(join(project.root, "README.md"))).toBe(true);
  expect(existsSync(join(project.root, "made.txt"))).toBe(false);
});

test.each(AGENT_HOSTS)(
  "an undo leaves ignored files and a person's edits during the turn of a %s host, and names the refs that it does not move",
  async (host) => {
    using project = createFixtureProject();
    const at = (path: string) => join(project.root, path);
    writeFileSync(at(".gitignore"), ".env\ndata/\n");
    mkdirSync(at("data"));
    execFileSync("git", ["init", "-q", "sub"], { cwd: project.root });
    for (const path of [".env", "data/x"]) writeFileSync(at(path), "kept\n");
    const script: Script = ({ answers }) => {
      if (answers === 0)
        return { parts: [shell("rm -rf .gitignore sub/.git; git add .; git commit -qm all")] };
      if (answers > 1) return { parts: [{ text: "done" }] };
      // The model thinks, and the person works.
      writeFileSync(at("mine.txt"), "mine\n");
      return { parts: [{ call: "fs", input: { action: "write", uri: "made.txt", content: "new\n" } }] };
    };
    await runAgent(project, script, "commit it", { host });
    const { stdout, code } = await octantHere(project, "undo");
    expect(code).toBe(0);
    expect(stdout).toContain("  created .gitignore\n");
    expect(stdout).toContain("  removed made.txt\n");
    expect(stdout).toContain("  not undone, because it is or was ignored: data\n");
    expect(stdout).toMatch(
      / {2}not undone in \.git: refs\/heads\/main was (\w{40}), and is \w{40}; git update-ref refs\/heads\/main \1/,
    );
    expect(stdout).toContain("  not undone in sub/.git: the repository was removed");
    expect(stdout).toContain("  left alone, because others changed it during the turn: mine.txt\n");
    expect([".env", "data/x", "mine.txt"].map((path) => read(project, path))).toEqual([
      "kept\n",
      "kept\n",
      "mine\n",
    ]);
    expect(existsSync(at("made.txt"))).toBe(false);
  },
);

test.each(AGENT_HOSTS)(
  "an undo takes back the work of sub-agents of a %s host, and of a merged worktree, but not a person's edits meanwhile",
  async (host) => {
    using project = createFixtureProject();
    const at = (path: string) => join(project.root, path);
    const spawn = (name: string, worktree: boolean) => ({
      parts: [
        { call: "agent", input: { action: "spawn", role: "code", task: `run: echo 1 > ${name}`, worktree } },
      ],
    });
    const script: Script = ({ answers, user }) => {
      const [, command] = /run: (.*)/.exec(user) ?? [];
      if (command !== undefined && answers === 0) {
        // The sub-agent's model thinks, and the person works.
        appendFileSync(at("mine.txt"), "mine\n");
        return { parts: [shell(command)] };
      }
      if (command === undefined && answers < 2)
        return spawn(["here.txt", "there.txt"][answers] ?? "", answers === 1);
      return { parts: [{ text: "done" }] };
    };
    await runAgent(project, script, "delegate it", { host });
    expect([read(project, "here.txt"), read(project, "there.txt")]).toEqual(["1\n", "1\n"]);
    const { stdout } = await octantHere(project, "undo");
    expect(stdout).toContain("  removed here.txt\n");
    expect(stdout).toContain("  removed there.txt\n");
    expect(stdout).toContain("not undone in .git: refs/heads/main was");
    expect([existsSync(at("here.txt")), existsSync(at("there.txt"))]).toEqual([false, false]);
    expect(read(project, "mine.txt")).toBe("mine\nmine\n");
  },
);

test("an undo asks about files that changed while a long command ran, also about new ones", async () => {
  using project = createFixtureProject();
  const at = (path: string) => join(project.root, path);
  writeFileSync(at("moved.txt"), "moved\n");
  const work = (ms: number) => () => {
    writeFileSync(at("README.md"), "changed\n");
    writeFileSync(at("made.txt"), "made\n");
    renameSync(at("moved.txt"), at("there.txt"));
    vi.advanceTimersByTime(ms);
  };
  const before = read(project, "README.md");
  const expectUndone = () => {
    expect([read(project, "README.md"), read(project, "moved.txt")]).toEqual([before, "moved\n"]);
    expect(["made.txt", "there.txt"].filter((path) => existsSync(at(path)))).toEqual([]);
  };
  const makeTimed = async (label: string, ms: number, isCommand: boolean) => {
    vi.useFakeTimers({ toFake: ["performance"] });
    await makeTurn(project, label, work(ms), isCommand).finally(() => vi.useRealTimers());
  };
  await makeTimed("rewrite", 6_000, true);
  const paths = ["README.md", "made.txt", "moved.txt", "there.txt"];
  const why = `a command, or you while it ran, changed ${paths.join(", ")}`;
  const listed = (title: string) => paths.map((path) => `  ${title}: ${path}\n`).join("");
  const kept = listed("kept, because a command or you changed it");
  for (const flags of [[], ["--json"]]) {
    const asked = await octantHere(project, "undo", ...flags);
    expect(asked).toMatchObject({ code: 1, stdout: "" });
    expect(asked.stderr).toContain(`nothing was changed: ${why}`);
  }
  const slash = await runAgent(project, [], "/undo", { code: 1 });
  expect(slash.stdout + slash.stderr).toContain(why);
  expect(read(project, "README.md")).toBe("changed\n");
  expect((await octantHere(project, "undo", "--dry-run")).stdout).toContain(kept);

  expect((await octantHere(project, "undo", "--keep")).stdout).toContain(kept);
  expect([read(project, "README.md"), read(project, "made.txt"), read(project, "there.txt")]).toEqual([
    "changed\n",
    "made\n",
    "moved\n",
  ]);
  await octantHere(project, "redo");

  expect((await octantHere(project, "undo", "--overwrite")).stdout).toContain(listed("undone too"));
  expectUndone();

  for (const [ms, isCommand] of [
    [4_000, true],
    [60_000, false],
  ] as const) {
    await makeTimed("a moment, or no command", ms, isCommand);
    const { stdout, code } = await octantHere(project, "undo");
    expect(code).toBe(0);
    expect(stdout).not.toContain("a command or you");
    expectUndone();
  }
});

test("/undo in a session without turns says whose turn it undoes", async () => {
  using project = createFixtureProject();
  await makeTurn(project, "make it", () => writeFileSync(join(project.root, "made.txt"), "a\n"));
  const { stdout } = await runAgent(project, [], "/undo");
  expect(stdout).toBe("undone: make it\n- removed made.txt\n- a turn of another session: ses_other\n");
  expect(existsSync(join(project.root, "made.txt"))).toBe(false);
});

test("the audit log records that the person undid and redid a turn", async () => {
  using project = createFixtureProject();
  await makeTurn(project, "write it", () => writeFileSync(join(project.root, "new.txt"), "new\n"));
  for (const direction of ["undo", "redo"])
    expect(await octant(project, direction)).toMatchObject({ code: 0 });
  const { stdout } = await octant(project, "audit", "--json");
  for (const name of ["turn.undo", "turn.redo"])
    expect(stdout).toMatch(new RegExp(`"caller":"local","action":"${name}",.*"code":"OK"`));
});
