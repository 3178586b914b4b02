import { execFileSync } from "node:child_process";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openCheckpoints } from "../../testing/checkpoints/open-checkpoints.ts";
import { treeOf } from "../../testing/checkpoints/tree-of.ts";

let base: string;
let root: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-coverage-")));
  root = join(base, "ws");
  mkdirSync(root);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const GIT = "git -c user.name=t -c user.email=t@t";
const sh = (script: string, cwd = root) =>
  execFileSync("/bin/bash", ["-pec", `git() { command ${GIT} "$@"; }\n${script}`], {
    cwd,
    stdio: "pipe",
    env: { ...process.env, HOME: `${base}/home` },
  }).toString();

const open = () => openCheckpoints(root, join(base, "home"));
type Opened = ReturnType<typeof open>;

/** Runs the calls of a turn, and what a person does before the first, between them and after the last. */
async function makeTurn({ checkpoints }: Opened, ...scripts: readonly string[]) {
  const turn = checkpoints.openTurn("turn");
  for (const [at, script] of scripts.entries())
    if (at % 2 === 0) sh(script);
    else await checkpoints.during("call", async () => sh(script));
  await turn.end();
}

async function restore({ checkpoints, edits }: Opened, direction: "undo" | "redo") {
  const [turn] = await checkpoints.turns({ limit: 1 });
  if (!turn) throw new Error("there is no turn");
  const plan = await checkpoints.plan(turn, direction);
  if (plan.changes.length > 0) await edits.apply({ patch: await checkpoints.refFor(plan.changes) });
  await checkpoints.mark(turn, direction === "undo");
  const shown = (path: string) => path.slice(root.length + 1);
  return {
    uncovered: plan.uncovered.map(({ path, why }) => `${shown(path)}: ${why}`),
    refs: plan.uncovered.flatMap(({ refs = [] }) => refs),
    merged: plan.merged.map(shown),
    conflicts: plan.conflicts.map(({ path }) => shown(path)),
    meanwhile: plan.meanwhile.map(shown),
  };
}

/** A repository whose branch `work` ignores some files that are there, and `main` does not. */
const REPOSITORY = `
  git init -qb main; echo one > a; git add a; git commit -qm one
  git checkout -qb work; printf '.env\\ndata/\\n*.log\\n' > .gitignore; git add .gitignore; git commit -qm work
  echo secret > .env; mkdir data; echo precious > data/x; echo log > x.log
  mkdir -p pkg/cache; printf 'cache\\n' > pkg/.gitignore; echo kept > pkg/cache/in`;

let repository: string;
beforeAll(() => {
  repository = mkdtempSync(join(tmpdir(), "octant-repository-"));
  sh(REPOSITORY, repository);
});
afterAll(() => rmSync(repository, { recursive: true }));

describe("an undo and a redo leave what the turn did not change", () => {
  test.each([
    [
      "git checkout of a branch that ignores less",
      "git checkout -q main",
      [".git: repository", "data: ignored"],
    ],
    ["rm .gitignore", "rm .gitignore", ["data: ignored"]],
    ["an emptied .gitignore", ": > .gitignore; echo 1 > new", ["data: ignored"]],
    ["a line that includes a folder again", "echo '!data/' >> .gitignore; echo 1 > new", ["data: ignored"]],
    ["a nested .gitignore that goes", "rm pkg/.gitignore; echo 1 > new", ["pkg/cache: ignored"]],
    [
      "a new line for all repositories",
      'mkdir -p "$HOME/.config/git"; echo a > "$HOME/.config/git/ignore"; echo 1 > n',
      [],
    ],
    ["a new line in info/exclude", "mkdir -p .git/info; echo a >> .git/info/exclude; echo 1 > new", []],
    ["a new line for a file that it made", "echo made >> .gitignore; echo 1 > made", ["made: ignored"]],
    [
      "rm -rf .git, so that no .gitignore counts",
      "rm -rf .git",
      [".git: repository", "data: ignored", "pkg/cache: ignored"],
    ],
    ["git init in a folder", "git init -q pkg", ["pkg/.git: repository"]],
    ["a large file that becomes small", "truncate -s 3 big", ["big: too large"]],
    ["a pipe that becomes a file", "rm pipe; echo 1 > pipe", ["pipe: special"]],
  ])("%s", async (_, script, listed) => {
    cpSync(repository, root, { recursive: true, verbatimSymlinks: true });
    if (script.includes("big")) sh("truncate -s 33M big");
    if (script.includes("pipe")) sh("mkfifo pipe");
    const before = treeOf(root);
    await using opened = open();
    await makeTurn(opened, "", script);
    const after = treeOf(root);
    const undone = await restore(opened, "undo");
    expect(undone.uncovered.sort()).toEqual(listed);
    const restored = treeOf(root);
    for (const [path, state] of Object.entries(after))
      if (before[path] === state) expect(restored[path], path).toBe(state);
    expect(restored).toMatchObject({ "data/x": before["data/x"], ".env": before[".env"], a: before["a"] });
    expect(restored[".gitignore"]).toBe(before[".gitignore"]);
    await restore(opened, "redo");
    expect(treeOf(root)).toEqual(after);
  });

  test("a line that a person adds after the turn does not make its files look removed", async () => {
    cpSync(repository, root, { recursive: true, verbatimSymlinks: true });
    await using opened = open();
    await makeTurn(opened, "", "echo 2 > a; echo 1 > b");
    sh("printf 'a\\nb\\n' >> .gitignore");
    expect(await restore(opened, "undo")).toMatchObject({ uncovered: ["a: ignored", "b: ignored"] });
    expect([readFileSync(join(root, "a"), "utf8"), existsSync(join(root, "b"))]).toEqual(["2\n", true]);
  });

  test("a rename that changes only the case of a name", async () => {
    sh("echo 1 > Name");
    await using opened = open();
    await makeTurn(opened, "", "mv Name name");
    await restore(opened, "undo");
    expect(Object.keys(treeOf(root))).toEqual(["Name"]);
    await restore(opened, "redo");
    expect(Object.keys(treeOf(root))).toEqual(["name"]);
  });
});

describe("for somebody who may not read everything", () => {
  /** Works as an ordinary user: the superuser reads everything. */
  async function asNobody(work: () => Promise<void>): Promise<void> {
    if (process.getuid?.() !== 0) return work();
    for (const folder of [base, root]) chownSync(folder, 65_534, 65_534);
    process.seteuid?.(65_534);
    try {
      await work();
    } finally {
      process.seteuid?.(0);
    }
  }

  test.each(["000", "111", "444"])("a folder of mode %s does not stop a command, and is listed", (mode) =>
    asNobody(async () => {
      sh(`mkdir shut; echo 1 > shut/in; chmod ${mode} shut; echo 1 > a`);
      await using opened = open();
      await makeTurn(opened, "", "chmod 755 shut; echo 2 > a; cat shut/in > copy");
      const { uncovered } = await restore(opened, "undo");
      expect(uncovered.some((one) => one.startsWith("shut"))).toBe(true);
      sh("chmod 755 shut");
      expect(treeOf(root)).toMatchObject({ "shut/in": "644 1\n", a: "644 1\n" });
      expect(existsSync(join(root, "copy"))).toBe(false);
    }),
  );

  test("a file that becomes readable, and one that no longer is", () =>
    asNobody(async () => {
      sh("echo 1 > shut; chmod 000 shut; echo 1 > open");
      await using opened = open();
      await makeTurn(opened, "", "chmod 644 shut; chmod 000 open");
      expect((await restore(opened, "undo")).uncovered.sort()).toEqual([
        "open: unreadable",
        "shut: unreadable",
      ]);
      await restore(opened, "redo");
      sh("chmod 644 *");
      expect(treeOf(root)).toEqual({ open: "644 1\n", shut: "644 1\n" });
    }));
});

describe("a person who edits during a turn", () => {
  const lines = (changed: Record<number, string> = {}) =>
    Array.from({ length: 9 }, (_, at) => changed[at] ?? `line ${at}`).join("\n");
  const put = (path: string, text: string) => `cat > ${path} <<'END'\n${text}\nEND`;
  const read = (path: string) => readFileSync(join(root, path), "utf8").trimEnd();

  test("keeps other files, between calls and while a question waits", async () => {
    await using opened = open();
    await makeTurn(opened, "echo 1 > a", "echo 2 > a", "echo mine > b", "echo 3 > c", "echo mine >> b");
    expect(await restore(opened, "undo")).toMatchObject({ meanwhile: ["b"], conflicts: [] });
    expect([read("a"), read("b"), existsSync(join(root, "c"))]).toEqual(["1", "mine\nmine", false]);
    await restore(opened, "redo");
    expect([read("a"), read("b"), read("c")]).toEqual(["2", "mine\nmine", "3"]);
  });

  test("keeps changes of other lines of the same file, whatever the turn does to it later", async () => {
    await using opened = open();
    const [first, person, last] = [
      { 1: "AGENT" },
      { 1: "AGENT", 4: "mine" },
      { 1: "AGENT", 4: "mine", 7: "AGAIN" },
    ];
    await makeTurn(
      opened,
      put("a", lines()),
      put("a", lines(first)),
      put("a", lines(person)),
      put("a", lines(last)),
    );
    expect(await restore(opened, "undo")).toMatchObject({ merged: ["a"], conflicts: [] });
    expect(read("a")).toBe(lines({ 4: "mine" }));
    await restore(opened, "redo");
    expect(read("a")).toBe(lines(last));
  });

  test("is asked about changes of the same lines", async () => {
    await using opened = open();
    await makeTurn(opened, "echo 1 > a; echo 1 > b", "echo 2 > a", "echo mine > a", "echo 3 > b");
    expect(await restore(opened, "undo")).toMatchObject({ conflicts: ["a"] });
    expect([read("a"), read("b")]).toEqual(["mine", "1"]);
  });

  test("loses nothing when the turn moved a file whose old place is taken again", async () => {
    await using opened = open();
    await makeTurn(opened, "echo mine > a", "mv a b; echo 1 > c", "echo other > a");
    expect(await restore(opened, "undo")).toMatchObject({ conflicts: ["a", "b"] });
    expect([read("a"), read("b"), existsSync(join(root, "c"))]).toEqual(["other", "mine", false]);
  });

  test("keeps a file in a folder that the turn put in the place of a file", async () => {
    await using opened = open();
    await makeTurn(opened, "echo 1 > d", "rm d; mkdir d; echo 2 > d/in", "echo mine > d/mine", "echo 3 > c");
    expect(await restore(opened, "undo")).toMatchObject({ conflicts: ["d", "d/in"] });
    expect(read("d/mine")).toBe("mine");
    expect(existsSync(join(root, "c"))).toBe(false);
  });
});

test.each([
  ["git commit", "echo 2 > a; git commit -qam two", ["refs/heads/main"]],
  ["git reset --hard", "git reset -q --hard HEAD~1", ["refs/heads/main"]],
  ["git branch -D", "git branch -qD other", ["refs/heads/other"]],
  ["git stash", "echo 2 > a; git stash -q", ["refs/stash"]],
  ["git checkout", "git checkout -q other", ["HEAD"]],
  ["git pack-refs", "git pack-refs --all; echo 2 > a", []],
  ["rm -rf .git", "rm -rf .git", ["HEAD", "refs/heads/main", "refs/heads/other"]],
])("after %s an undo restores the files, and says which refs it does not", async (_, script, names) => {
  sh(
    "git init -qb main; echo 0 > a; git add a; git commit -qm 0; git branch other; echo 1 > a; git commit -qam 1",
  );
  const refs = () => sh("git for-each-ref --format='%(refname) %(objectname)'; git symbolic-ref HEAD");
  const before = refs();
  await using opened = open();
  await makeTurn(opened, "", script);
  const after = existsSync(join(root, ".git")) ? refs() : "";
  const undone = await restore(opened, "undo");
  expect(undone.refs.map(({ name }) => name).sort()).toEqual(names);
  for (const { name, before: old } of undone.refs)
    if (old?.length === 40) expect(before).toContain(`${name} ${old}`);
  expect(existsSync(join(root, ".git")) ? refs() : "").toBe(after);
  expect(readFileSync(join(root, "a"), "utf8")).toBe("1\n");
});
