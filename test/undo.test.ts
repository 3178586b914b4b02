import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { startSession } from "./mcp-session.ts";
import { runOctant, startOctant } from "./octant-process.ts";
import { accountAt } from "./scripted-account.ts";

const shell = (command: string) => ({ call: "proc", input: { action: "exec", command } });

async function runAgent(project: FixtureProject, script: Script, prompt: string) {
  await using provider = await createScriptedProvider(script);
  const env = {
    ...project.env,
    ...accountAt(provider),
  };
  const ran = await runOctant(["run", prompt, "--allow", "*", "--provider", "anthropic", "--model", "m"], {
    cwd: project.root,
    env,
  });
  expect(ran.code, ran.stderr).toBe(0);
  return ran;
}

const octant = (project: FixtureProject, ...args: string[]) =>
  runOctant(args, { cwd: project.root, env: project.env });
const read = (project: FixtureProject, path: string) => readFileSync(join(project.root, path), "utf8");

/** A command of each kind whose previous state no tool would have stored. */
const WRECK =
  "rm -rf src; echo new > made.txt; sed -i s/small/big/ README.md; mkdir -p deep/er; chmod 600 README.md";

test("octant undo reverts a whole turn, including commands, and octant redo repeats it", async () => {
  using project = createFixtureProject();
  const before = read(project, "README.md");
  const main = read(project, "src/main.ts");
  const index = readFileSync(join(project.root, ".git/index"));
  await runAgent(project, [{ parts: [shell(WRECK)] }, { parts: [{ text: "done" }] }], "tidy up");
  expect(existsSync(join(project.root, "src"))).toBe(false);

  const listed = await octant(project, "undo", "--list");
  expect(listed.stdout).toContain("tidy up");
  const looked = await octant(project, "undo", "--dry-run");
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

  expect(await octant(project, "undo")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("nothing to undo"),
  });
  expect(await octant(project, "redo")).toMatchObject({ code: 0 });
  expect(existsSync(join(project.root, "src"))).toBe(false);
  expect(read(project, "made.txt")).toBe("new\n");
  expect(await octant(project, "redo")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("nothing to redo"),
  });
});

test("an undo merges the person's later changes, and overwrites them only on request", async () => {
  using project = createFixtureProject();
  const lines = Array.from({ length: 12 }, (_, at) => `line ${at}`);
  const write = (changed: Record<number, string>) =>
    writeFileSync(
      join(project.root, "list.txt"),
      `${lines.map((line, at) => changed[at] ?? line).join("\n")}\n`,
    );
  write({});
  await runAgent(
    project,
    [
      { parts: [shell("sed -i 's/line 1$/LINE 1/' list.txt; echo x >> README.md")] },
      { parts: [{ text: "ok" }] },
    ],
    "shout",
  );
  write({ 1: "LINE 1", 9: "mine" });
  const merged = await octant(project, "undo");
  expect(merged.stdout).toContain("merged list.txt");
  expect(read(project, "list.txt").split("\n").slice(1, 10)).toEqual([...lines.slice(1, 9), "mine"]);

  await octant(project, "redo");
  expect(read(project, "list.txt")).toContain("LINE 1\n");
  expect(read(project, "list.txt")).toContain("mine\n");
  write({ 1: "also mine" });
  const refused = await octant(project, "undo");
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("nothing was changed: you changed list.txt since");
  expect(read(project, "README.md")).toContain("x\n");
  expect(await octant(project, "undo", "--keep")).toMatchObject({ code: 0 });
  expect(read(project, "list.txt")).toContain("also mine\n");
  expect(read(project, "README.md")).not.toContain("x\n");
  await octant(project, "redo", "--keep");
  expect(await octant(project, "undo", "--overwrite")).toMatchObject({ code: 0 });
  expect(read(project, "list.txt")).toBe(`${lines.join("\n")}\n`);
});

test("with --checkpoints proc.exec returns an undo ref for fs.apply_patch, without it does not", async () => {
  using project = createFixtureProject();
  const { root: cwd, env } = project;
  await using plain = await startSession([], { cwd, env });
  expect((await plain.exec("echo a > a.txt")).data).not.toHaveProperty("undo");
  await using session = await startSession(["--checkpoints"], { cwd, env });
  expect((await session.exec("ls")).data).not.toHaveProperty("undo");
  const { data } = await session.exec(WRECK);
  expect(data).toMatchObject({ exit_code: 0, undo: expect.stringMatching(/^blob:sha256:/) });
  const undone = await session.call("fs", { action: "apply_patch", patch: data?.["undo"] });
  expect(undone).toMatchObject({ ok: true });
  expect(read(project, "src/main.ts")).toContain("42");
  expect(existsSync(join(cwd, "made.txt"))).toBe(false);
});

test("after kill -9 in a turn its work is reverted, and possible changes of the person are asked about", async () => {
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
  while (!existsSync(started) && child.exitCode === null) await new Promise((done) => setImmediate(done));
  child.kill("SIGKILL");
  await once(child, "exit");
  rmSync(started);
  expect((await octant(project, "undo", "--list")).stdout).toContain("cut off");
  const asked = await octant(project, "undo");
  expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining("README.md") });
  expect(existsSync(join(project.root, "src/main.ts"))).toBe(false);
  expect(await octant(project, "undo", "--overwrite")).toMatchObject({ code: 0 });
  expect(read(project, "src/main.ts")).toContain("42");
  expect(read(project, "README.md")).not.toContain("y\n");
});

test("a file that is too large to be kept is named at once, and an undo restores the rest", async () => {
  using project = createFixtureProject();
  const make = "truncate --size 33M big.bin; rm README.md; echo new > made.txt";
  {
    await using session = await startSession(["--checkpoints"], { cwd: project.root, env: project.env });
    const { data } = await session.exec(make);
    expect(data?.["note"]).toMatch(/undo leaves these, which are too large to be kept: file:.*big\.bin$/);
    expect((await session.call("fs", { action: "apply_patch", patch: data?.["undo"] })).ok).toBe(true);
    expect(existsSync(join(project.root, "README.md"))).toBe(true);
    expect(existsSync(join(project.root, "big.bin"))).toBe(true);
  }
  rmSync(join(project.root, "big.bin"));
  await runAgent(project, [{ parts: [shell(make)] }, { parts: [{ text: "done" }] }], "grow");
  const undone = await octant(project, "undo");
  expect(undone.stdout).toContain("  left as it is, too large to be kept: big.bin\n");
  expect(existsSync(join(project.root, "README.md"))).toBe(true);
  expect(existsSync(join(project.root, "made.txt"))).toBe(false);
});

test("/undo in a session without turns says whose turn it undoes", async () => {
  using project = createFixtureProject();
  await runAgent(
    project,
    [{ parts: [shell("echo a > made.txt")] }, { parts: [{ text: "done" }] }],
    "make it",
  );
  const { stdout } = await runAgent(project, [], "/undo");
  expect(stdout).toMatch(/^undone: make it\n- removed made\.txt\n- a turn of another session: ses_\w+\n$/);
  expect(existsSync(join(project.root, "made.txt"))).toBe(false);
});
