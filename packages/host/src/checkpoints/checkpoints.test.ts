import { execFileSync } from "node:child_process";
import {
  chmodSync,
  globSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openCheckpoints } from "../../testing/checkpoints/open-checkpoints.ts";
import { treeOf } from "../../testing/checkpoints/tree-of.ts";
import { damagePages } from "../../testing/jobs/damage-pages.ts";

const RUNS = Number(process.env["FUZZ_RUNS"] ?? 6);
const MAX_RUNS_MS = 60_000 + RUNS * 2_000;

let base: string;
let root: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-checkpoints-")));
  root = join(base, "ws");
  mkdirSync(root);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const open = (warn?: (message: string) => void) => openCheckpoints(root, join(base, "state"), warn);

const sh = (script: string) => execFileSync("/bin/bash", ["-c", script], { cwd: root, stdio: "ignore" });

const tree = () => treeOf(root);

const write = (files: Record<string, string>) => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, name, ".."), { recursive: true });
    writeFileSync(join(root, name), text);
  }
};

async function undoAfter(script: string) {
  await using opened = open();
  const { checkpoints, edits } = opened;
  const before = tree();
  const from = await checkpoints.take("before");
  try {
    sh(script);
  } catch {
    // A command that fails midway is undone like any other.
  }
  const changed = tree();
  const to = await checkpoints.take("after");
  const { undo } = await checkpoints.undoRef(from, to);
  if (undo !== null) {
    const { diff } = await edits.apply({ patch: undo, dry_run: true });
    expect(diff).toBeTypeOf("string");
    expect(tree()).toEqual(changed);
  }
  const result = undo === null ? undefined : await edits.apply({ patch: undo });
  const undone = tree();
  const redo = result?.undo ? await edits.apply({ patch: result.undo }) : undefined;
  return { before, changed, undone, redone: redo ? tree() : changed };
}

describe("checkpoints", () => {
  test.each([
    ["rm -rf of a folder with a link and an empty folder", "rm -rf src"],
    ["sed -i on many files", "sed -i s/a/b/ src/*.ts"],
    ["mv of a folder", "mv src lib"],
    ["chmod", "chmod 700 src/a.ts; chmod 711 src"],
    ["a file that becomes a folder", "rm top; mkdir top; echo x > top/in"],
    ["a folder that becomes a file", "rm -rf src; echo x > src"],
    ["a file that becomes a link", "rm src/a.ts; ln -s b.ts src/a.ts"],
    ["a link that becomes a file", "rm src/link; echo x > src/link"],
    ["a new tree with empty folders", "mkdir -p new/a/b new/c; echo 1 > new/a/x"],
    ["a hard link", "ln src/a.ts src/second; echo more >> src/second"],
    ["a change of a file with two names", "echo more >> src/b.ts"],
    ["names with spaces and newlines", "mv src/a.ts $'src/a b\\nc'"],
    ["a script that fails half way", "rm top; echo hi > other; false; exit 3"],
    ["a new folder that others cannot read", "mkdir -m 700 new; mkdir -m 711 new/empty; echo 1 > new/x"],
  ])("undo takes back %s, and its own undo repeats it", async (_, script) => {
    write({ "src/a.ts": "aaa\n", "src/b.ts": "a b\r\n", "src/deep/c.bin": "\0\x01", top: "top" });
    mkdirSync(join(root, "src/empty"));
    symlinkSync("a.ts", join(root, "src/link"));
    chmodSync(join(root, "src/b.ts"), 0o755);
    linkSync(join(root, "src/b.ts"), join(root, "src/b2.ts"));
    const { before, changed, undone, redone } = await undoAfter(script);
    expect(changed).not.toEqual(before);
    expect(undone).toEqual(before);
    expect(redone).toEqual(changed);
  });

  test("a git checkout is undone in the files without touching the repository", async () => {
    write({ a: "one\n" });
    sh(
      "git init -q . && git -c user.name=t -c user.email=t@t add -A && git -c user.name=t -c user.email=t@t commit -qm one && git branch other && echo two > a && git -c user.name=t -c user.email=t@t commit -qam two",
    );
    await using opened = open();
    const { checkpoints, edits } = opened;
    const git = () =>
      execFileSync("git", ["-C", root, "count-objects", "-v"], { encoding: "utf8" }) +
      execFileSync("git", ["-C", root, "stash", "list"], { encoding: "utf8" });
    const from = await checkpoints.take("before");
    const objects = git();
    sh("git checkout -q other");
    const to = await checkpoints.take("after");
    expect(git()).toBe(objects);
    await edits.apply({ patch: (await checkpoints.undoRef(from, to)).undo ?? "" });
    expect(readFileSync(join(root, "a"), "utf8")).toBe("two\n");
    expect(git()).toBe(objects);
  });

  test("ignored files are neither stored nor touched", async () => {
    write({ ".gitignore": "built/\n", "built/x": "1", a: "1" });
    sh("git init -q .");
    await using opened = open();
    const { checkpoints, edits } = opened;
    const from = await checkpoints.take("before");
    write({ "built/x": "2", a: "2" });
    const to = await checkpoints.take("after");
    await edits.apply({ patch: (await checkpoints.undoRef(from, to)).undo ?? "" });
    expect(readFileSync(join(root, "built/x"), "utf8")).toBe("2");
    expect(readFileSync(join(root, "a"), "utf8")).toBe("1");
  });

  test("a file that the person changed since is a conflict, and nothing is reverted", async () => {
    write({ a: "1", b: "1" });
    await using opened = open();
    const { checkpoints, edits } = opened;
    const from = await checkpoints.take("before");
    write({ a: "2", b: "2" });
    const to = await checkpoints.take("after");
    write({ b: "mine" });
    const undo = (await checkpoints.undoRef(from, to)).undo ?? "";
    await expect(edits.apply({ patch: undo })).rejects.toMatchObject({ code: "CONFLICT" });
    expect(readFileSync(join(root, "a"), "utf8")).toBe("2");
    expect(readFileSync(join(root, "b"), "utf8")).toBe("mine");
  });

  test("a folder that an undo leaves to the person's file does not stop its own undo", async () => {
    write({ a: "1" });
    await using opened = open();
    const { checkpoints, edits } = opened;
    const from = await checkpoints.take("before");
    sh("mkdir --mode=700 made && echo 2 > a");
    const to = await checkpoints.take("after");
    write({ "made/mine": "mine" });
    const { undo } = await edits.apply({ patch: (await checkpoints.undoRef(from, to)).undo ?? "" });
    expect(tree()).toMatchObject({
      a: expect.stringMatching(/ 1$/),
      "made/mine": expect.stringMatching(/ mine$/),
    });
    await edits.apply({ patch: undo ?? "" });
    expect(readFileSync(join(root, "a"), "utf8")).toBe("2\n");
  });

  test("an entry in the place of a lost file stops the undo; the error names the entry and the next step", async () => {
    write({ a: "1", b: "1" });
    await using opened = open();
    const { checkpoints, edits } = opened;
    const from = await checkpoints.take("before");
    sh("rm a && mkfifo a && echo 2 > b");
    const to = await checkpoints.take("after");
    const undo = (await checkpoints.undoRef(from, to)).undo ?? "";
    await expect(edits.apply({ patch: undo })).rejects.toMatchObject({
      code: "ALREADY_EXISTS",
      message: expect.stringMatching(
        /\/ws\/a cannot be restored: a fifo is in its place. Remove it \(fs.rm\)/,
      ),
    });
    expect(readFileSync(join(root, "b"), "utf8")).toBe("2\n");
    await edits.remove(join(root, "a"), { confirm: true, recursive: false });
    await edits.apply({ patch: undo });
    expect([readFileSync(join(root, "a"), "utf8"), readFileSync(join(root, "b"), "utf8")]).toEqual([
      "1",
      "1",
    ]);
  });

  test("without changes the same checkpoint is returned, also in the next process", async () => {
    write({ a: "1" });
    let seq: number;
    {
      await using opened = open();
      seq = (await opened.checkpoints.take("one")).seq;
      expect((await opened.checkpoints.take("two")).seq).toBe(seq);
    }
    await using again = open();
    expect(await again.checkpoints.take("three")).toMatchObject({ seq, label: "one" });
  });

  test("a change within the same timestamp is detected", async () => {
    write({ a: "1" });
    await using opened = open();
    const from = await opened.checkpoints.take("before");
    writeFileSync(join(root, "a"), "2");
    const to = await opened.checkpoints.take("after");
    expect(to.seq).not.toBe(from.seq);
  });

  test(
    "random trees and random scripts: undo gives the tree before, redo the tree after",
    async () => {
      const path = fc.constantFrom("a", "b", "d", "d/a", "d/b", "d/e", "d/e/f", "g h", "ü");
      const command = fc.oneof(
        path.map((p) => `rm -rf '${p}'`),
        fc.tuple(path, path).map(([p, q]) => `mv '${p}' '${q}'`),
        fc.tuple(path, path).map(([p, q]) => `cp -r '${p}' '${q}'`),
        fc.tuple(path, fc.nat(99)).map(([p, n]) => `mkdir -p "$(dirname '${p}')"; echo ${n} > '${p}'`),
        path.map((p) => `sed -i s/1/2/ '${p}'`),
        fc
          .tuple(path, fc.constantFrom("600", "644", "755"))
          .map(([p, mode]) => `chmod ${mode} '${p}' && [ ! -d '${p}' ] || chmod 755 '${p}'`),
        fc.tuple(path, path).map(([p, q]) => `ln -s '${p}' '${q}'`),
        path.map((p) => `mkdir -p '${p}'`),
        path.map((p) => `mkdir -p node_modules_like/'${p}'; touch node_modules_like/'${p}'/index.js`),
      );
      await fc.assert(
        fc.asyncProperty(
          fc.array(command, { maxLength: 6 }),
          fc.array(command, { minLength: 1, maxLength: 6 }),
          async (setup, script) => {
            rmSync(root, { recursive: true, force: true });
            mkdirSync(root);
            for (const one of setup) {
              try {
                sh(one);
              } catch {}
            }
            const { before, changed, undone, redone } = await undoAfter(script.join("\n"));
            expect(undone).toEqual(before);
            expect(redone).toEqual(changed);
          },
        ),
        { numRuns: RUNS },
      );
    },
    MAX_RUNS_MS,
  );
});

test("concurrent commands share an undo, and each says so", async () => {
  await using workspace = open();
  const { checkpoints } = workspace;
  const one = await checkpoints.begin("one");
  writeFileSync(join(root, "one.txt"), "1");
  const other = await checkpoints.begin("other");
  writeFileSync(join(root, "other.txt"), "2");
  expect(await one.end()).toMatchObject({ undo: expect.any(String), covers: ["other"] });
  expect(await other.end()).toMatchObject({ undo: expect.any(String), covers: ["one"] });
  const [last, first] = await checkpoints.turns({ limit: 2 });
  expect((await checkpoints.alongside(last!)).map(({ label }) => label)).toEqual(["one"]);
  expect((await checkpoints.alongside(first!)).map(({ label }) => label)).toEqual(["other"]);
  const alone = await checkpoints.begin("alone");
  writeFileSync(join(root, "alone.txt"), "3");
  expect(await alone.end()).not.toHaveProperty("covers");
});

test("the undo ref of a long command is set apart, because the person may have made its changes", async () => {
  await using workspace = open();
  const { checkpoints, edits } = workspace;
  vi.useFakeTimers({ toFake: ["performance"] });
  try {
    const command = await checkpoints.begin("npm test");
    write({ "lib/mine.txt": "mine" });
    vi.advanceTimersByTime(6_000);
    const { undo, doubtful } = await command.end();
    expect({ undo, paths: doubtful?.paths }).toEqual({ undo: null, paths: [join(root, "lib/mine.txt")] });
    await edits.apply({ patch: doubtful?.undo ?? "" });
    expect(tree()).toEqual({});
  } finally {
    vi.useRealTimers();
  }
});

test("damaged pages are set aside and reported, and checkpoints continue", async () => {
  const warnings: string[] = [];
  for (let n = 0; n < 300; n++) writeFileSync(join(root, `file-${n}.txt`), `text ${n}`);
  {
    await using before = open();
    await before.checkpoints.take("one");
  }
  const [file = ""] = globSync(join(base, "state/octant/*/checkpoints/checkpoints.sqlite"));
  damagePages(file);
  await using again = open((message) => warnings.push(message));
  const { seq } = await again.checkpoints.take("two");
  expect(await again.checkpoints.take("three")).toMatchObject({ seq, label: "two" });
  expect(warnings).toEqual([expect.stringContaining("the list of checkpoints was damaged")]);
});
