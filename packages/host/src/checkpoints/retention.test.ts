import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createBlobs } from "../blobs/blobs.ts";
import { createConfinement } from "../confinement.ts";
import { createEdits } from "../edits/edits.ts";
import { openStateFolder } from "../state.ts";
import { createCheckpoints } from "./checkpoints.ts";
import { checkpointFile } from "./store.ts";

const MAX_BYTES = 64 * 1024;
const FILE_BYTES = 8 * 1024;

let base: string;
let root: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-retention-")));
  root = join(base, "ws");
  mkdirSync(root);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function open() {
  const confinement = createConfinement([root]);
  const env = { HOME: base, XDG_STATE_HOME: join(base, "state") };
  const state = openStateFolder({ roots: confinement.roots, env, warn: () => {} });
  const blobs = createBlobs(state.folder("blobs"));
  const edits = createEdits({ confinement, blobs, state, warn: () => {} });
  const checkpoints = createCheckpoints({
    confinement,
    blobs,
    edits,
    state,
    env,
    warn: () => {},
    maxBytes: MAX_BYTES,
  });
  return {
    edits,
    checkpoints,
    state,
    blobs,
    file: checkpointFile(state.folder("checkpoints")),
    async [Symbol.asyncDispose]() {
      await checkpoints.close();
      await edits.close();
      blobs.close();
    },
  };
}

const write = (name: string, text: string) => writeFileSync(join(root, name), text.padEnd(FILE_BYTES, text));

test("the contents of checkpoints stay within their limit: the oldest are removed, and the newest can be undone", async () => {
  await using opened = open();
  const { checkpoints, edits } = opened;
  write("same.txt", "same");
  const first = await checkpoints.take("first");
  const taken = [first];
  for (let round = 0; round < 60; round++) {
    write("changing.txt", `round ${round} `);
    taken.push(await checkpoints.take(`round ${round}`));
  }
  const isKept = await Promise.all(
    taken.map((one) =>
      checkpoints.undoRef(one, one).then(
        () => true,
        () => false,
      ),
    ),
  );
  const kept = taken.filter((_, i) => isKept[i]).reverse();
  expect(kept.length).toBeGreaterThan(2);
  expect(kept.length).toBeLessThan(10);
  // Forty times the limit was written.
  expect(statSync(opened.file).size).toBeLessThan(4 * MAX_BYTES);

  const [newest] = kept;
  if (!newest) throw new Error("nothing is kept");
  await expect(checkpoints.undoRef(first, newest)).rejects.toMatchObject({ code: "NOT_FOUND" });
  // It is as old as the first checkpoint, but still part of the newest.
  rmSync(join(root, "same.txt"));
  const after = await checkpoints.take("after");
  await edits.apply({ patch: (await checkpoints.undoRef(newest, after)).undo ?? "" });
  expect(readFileSync(join(root, "same.txt"), "utf8")).toBe("same".padEnd(FILE_BYTES, "same"));
});

test("a tree above the limit is stored as far as possible, and the undo says what it cannot restore", async () => {
  await using opened = open();
  const { checkpoints, edits } = opened;
  for (let at = 0; at < 12; at++) write(`file-${at}.txt`, `content ${at} `);
  const before = await checkpoints.take("before");
  rmSync(join(root, "file-0.txt"));
  const after = await checkpoints.take("after");
  await edits.apply({ patch: (await checkpoints.undoRef(before, after)).undo ?? "" });
  expect(readFileSync(join(root, "file-0.txt"), "utf8")).toContain("content 0");

  const whole = await checkpoints.take("whole");
  for (let at = 0; at < 12; at++) rmSync(join(root, `file-${at}.txt`));
  const empty = await checkpoints.take("empty");
  const { undo, uncovered } = await checkpoints.undoRef(whole, empty);
  expect(uncovered.length).toBeGreaterThan(0);
  await edits.apply({ patch: undo ?? "" });
  const restored = readdirSync(root).filter((name) => name.startsWith("file-"));
  expect(restored).toHaveLength(12 - uncovered.length);
});

test("data that other tools store never displaces the contents of checkpoints", async () => {
  await using opened = open();
  const { checkpoints, edits, blobs, state } = opened;
  write("a.txt", "content ");
  const before = await checkpoints.take("before");
  // As if the general store had evicted its oldest content.
  rmSync(join(state.folder("blobs"), "small"), { force: true });
  blobs.close();
  rmSync(join(root, "a.txt"));
  const after = await checkpoints.take("after");
  await edits.apply({ patch: (await checkpoints.undoRef(before, after)).undo ?? "" });
  expect(readFileSync(join(root, "a.txt"), "utf8")).toContain("content");
});
