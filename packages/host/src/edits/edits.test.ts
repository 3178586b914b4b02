import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
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

function open() {
  const confinement = createConfinement([root]);
  const warn = (message: string) => expect.unreachable(message);
  const env = { XDG_STATE_HOME: join(base, "state") };
  const state = openStateFolder({ roots: confinement.roots, env, warn });
  return createEdits({ confinement, blobs: createBlobs(state.folder("blobs")), state, warn });
}

function start(task: string, count: number) {
  const script = join(import.meta.dirname, "testing/editing-process.ts");
  const child = spawn(process.execPath, [script, task, root, join(base, "state"), String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (data) => {
    said += data;
  });
  return { child, closed: once(child, "close"), lines: () => said.split("\n").slice(0, -1) };
}

test("a process killed in the middle of a set of files leaves all old or all new, and nothing else", async () => {
  const KILLS = 5;
  for (const name of NAMES) writeFileSync(join(root, name), "0\n");
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
    expect(readdirSync(root).sort()).toEqual(NAMES);
    last = Number.parseInt(found[0]!, 10);
  }
});

test("two processes that edit one file lose none of their edits", async () => {
  const EDITS = 30;
  writeFileSync(join(root, "a"), "start\n");
  const processes = [start("add lines", EDITS), start("add lines", EDITS)];
  for (const { closed } of processes) expect(await closed).toEqual([0, null]);
  const lines = readFileSync(join(root, "a"), "utf8").split("\n");
  for (const { child } of processes)
    expect(lines.filter((line) => line.startsWith(`${child.pid} `))).toHaveLength(EDITS);
  expect(readdirSync(root)).toEqual(["a"]);
});

test("a caller who gives up leaves everything as it was", async () => {
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
