import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createBlobs } from "../blobs/blobs.ts";
import { createConfinement } from "../confinement.ts";
import { hashOf } from "../hashes.ts";
import { openStateFolder } from "../state.ts";
import { createEdits } from "./edits.ts";

let base: string;
let root: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-edits-")));
  root = join(base, "ws");
  mkdirSync(root);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const NAMES = ["a", "b", "c", "d", "e"];
const contents = () => NAMES.map((name) => readFileSync(join(root, name), "utf8"));
const all = (text: string) => NAMES.map(() => text);

function open(roots = [root]) {
  const confinement = createConfinement(roots);
  const warn = (message: string) => expect.unreachable(message);
  const env = { XDG_STATE_HOME: join(base, "state") };
  const state = openStateFolder({ roots: confinement.roots, env, warn });
  return createEdits({ confinement, blobs: createBlobs(state.folder("blobs")), state, warn });
}

function start(task: string, count: number, file = "", roots = [root]) {
  const script = join(import.meta.dirname, "../../testing/edits/editing-process.ts");
  const args = [script, task, join(base, "state"), String(count), file, ...roots];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (data) => {
    said += data;
  });
  return { child, closed: once(child, "close"), lines: () => said.split("\n").slice(0, -1) };
}

/** The number that a link leads to, or a file has. */
function numberAt(name: string): number {
  const path = join(root, name);
  return Number(lstatSync(path).isSymbolicLink() ? readlinkSync(path) : readFileSync(path, "utf8"));
}

test("a process killed in the middle of a set of files and links leaves all old or all new, and nothing else", async () => {
  // Many more in `npm run torture`.
  const KILLS = 3;
  const LINKS = ["either", "link"];
  for (const name of [...NAMES, "either"]) writeFileSync(join(root, name), "0\n");
  symlinkSync("0", join(root, "link"));
  let last = 0;
  for (let kill = 1; kill <= KILLS; kill++) {
    const { child, closed, lines } = start("count up", last);
    while (lines().length < kill) await once(child.stdout, "data");
    child.kill("SIGKILL");
    await closed;
    const edits = open();
    await edits.recover();
    await edits.close();
    const acknowledged = Number(lines().at(-1));
    const found = contents();
    expect([all(`${acknowledged}\n`), all(`${acknowledged + 1}\n`)]).toContainEqual(found);
    last = Number.parseInt(found[0]!, 10);
    expect(LINKS.map(numberAt)).toEqual([last, last]);
    expect(lstatSync(join(root, "either")).isSymbolicLink()).toBe(last % 2 === 1);
    expect(readdirSync(root).sort()).toEqual([...NAMES, ...LINKS]);
  }
});

/** Sets of roots that have the folder `ws/sub` in common. */
const rootSets = (): string[][] => {
  const [sub, other] = [join(root, "sub"), join(base, "other")];
  for (const folder of [sub, other]) mkdirSync(folder);
  return [[root], [sub], [other, root]];
};

test("processes with overlapping roots that edit one file lose none of their edits", async () => {
  const EDITS = 10;
  const file = join(root, "sub/a");
  const sets = rootSets();
  writeFileSync(file, "start\n");
  const processes = sets.map((roots) => start("add lines", EDITS, file, roots));
  for (const { closed } of processes) expect(await closed).toEqual([0, null]);
  const lines = readFileSync(file, "utf8").split("\n");
  for (const { child } of processes)
    expect(lines.filter((line) => line.startsWith(`${child.pid} `))).toHaveLength(EDITS);
  expect(readdirSync(join(root, "sub"))).toEqual(["a"]);
});

test("of edits of one file at the same time, whatever the roots, exactly one wins", async () => {
  const engines = rootSets().map((roots) => open(roots));
  const file = join(root, "sub/a");
  // Big and with two names: it is written in place, and others get their turns meanwhile.
  const rest = `\n${"x".repeat(2 * 1024 * 1024)}\n`;
  const start = Buffer.from(`start${rest}`);
  writeFileSync(file, start);
  linkSync(file, join(root, "sub/b"));
  for (let round = 0; round < 3; round++) {
    writeFileSync(file, start);
    const outcomes = await Promise.allSettled(
      engines.map((edits, i) =>
        edits.apply({
          uri: file,
          base_hash: hashOf(start),
          patch: [{ op: "replace", old: "start", new: `by ${i}` }],
        }),
      ),
    );
    const winner = outcomes.findIndex(({ status }) => status === "fulfilled");
    expect(readFileSync(file, "utf8") === `by ${winner}${rest}`).toBe(true);
    for (const [i, outcome] of outcomes.entries())
      if (i !== winner) expect(outcome).toMatchObject({ status: "rejected", reason: { code: "CONFLICT" } });
  }
  for (const edits of engines) await edits.close();
});

test.each([".git/config", ".git/hooks/pre-commit", ".envrc"])(
  "a file that is also the repository's %s by a hard link is not written",
  async (name) => {
    mkdirSync(join(root, ".git/hooks"), { recursive: true });
    mkdirSync(join(root, "sub"));
    writeFileSync(join(root, name), "old\n");
    linkSync(join(root, name), join(root, "sub/innocent"));
    writeFileSync(join(root, "a"), "old\n");
    linkSync(join(root, "a"), join(root, "sub/a"));
    const edits = open();
    const edit = (uri: string) =>
      edits.apply({
        uri,
        base_hash: hashOf(Buffer.from("old\n")),
        patch: [{ op: "replace", old: "old", new: "new" }],
      });
    await expect(edit("sub/innocent")).rejects.toMatchObject({ code: "PROTECTED_PATH" });
    expect(readFileSync(join(root, name), "utf8")).toBe("old\n");
    await edit("sub/a");
    expect(readFileSync(join(root, "a"), "utf8")).toBe("new\n");
    await edits.close();
  },
);

test("a forged journal deletes nothing and writes no hook; it is set aside, and the edit is applied", async () => {
  mkdirSync(join(root, ".git/hooks"), { recursive: true });
  for (const name of ["keep", ".octant-1.tmp"]) writeFileSync(join(root, name), name);
  const step = { how: "remove", before: null, mode: null, after: null };
  const body = JSON.stringify({
    isSet: true,
    steps: [
      {
        ...step,
        target: join(root, ".git/hooks/pre-commit"),
        temp: "../../keep",
        backup: "../../.octant-1.tmp",
      },
    ],
    folders: [join(root, ".git/hooks")],
  });
  const warnings: string[] = [];
  const confinement = createConfinement([root]);
  const warn = (message: string) => warnings.push(message);
  const state = openStateFolder({ roots: [root], env: { XDG_STATE_HOME: join(base, "state") }, warn });
  const digest = createHash("sha256").update(body).digest("hex");
  writeFileSync(join(state.folder("edits"), "journal"), `${digest} ${body}\n`);
  const edits = createEdits({ confinement, blobs: createBlobs(state.folder("blobs")), state, warn });
  await edits.create("new", Buffer.from("new"));
  await edits.close();
  expect(warnings).toEqual([expect.stringContaining("damaged")]);
  expect(readdirSync(root).sort()).toEqual([".git", ".octant-1.tmp", "keep", "new"]);
  expect(readdirSync(join(root, ".git/hooks"))).toEqual([]);
});

test("the folder of a submodule stays when it is a root of the workspace", async () => {
  const sub = join(root, "sub");
  mkdirSync(sub);
  const edits = open([root, sub]);
  const patch =
    "diff --git a/sub b/sub\ndeleted file mode 160000\n--- a/sub\n+++ /dev/null\n@@ -1 +0,0 @@\n-Subproject commit 1\n";
  const { files } = await edits.apply({ patch });
  expect(files).toEqual([{ uri: `file://${sub}`, kind: "submodule", hash: null, match: "exact", hunks: [] }]);
  expect(readdirSync(root)).toEqual(["sub"]);
  await edits.close();
});

test("an aborted call leaves everything unchanged", async () => {
  for (const name of NAMES) writeFileSync(join(root, name), "0\n");
  const edits = open();
  const caller = new AbortController();
  const patch = NAMES.map((name) => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-0\n+1\n`).join("");
  const files = NAMES.map((uri) => ({ uri, base_hash: hashOf(Buffer.from("0\n")) }));
  const waiting = edits.apply({ patch, files }, caller.signal);
  caller.abort();
  await expect(waiting).rejects.toThrow(/abort/i);
  expect(contents()).toEqual(all("0\n"));
  await edits.apply({ patch, files });
  expect(contents()).toEqual(all("1\n"));
  await edits.close();
});
