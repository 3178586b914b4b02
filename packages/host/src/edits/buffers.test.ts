import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createBlobs } from "../blobs/blobs.ts";
import { createConfinement } from "../confinement.ts";
import { hashOf } from "../hashes.ts";
import { openStateFolder } from "../state.ts";
import { createEdits, type Edits } from "./edits.ts";

const DISK = "one\ntwo\n";
const TYPED = "one\ntwo\ntyped\n";
const ON_DISK = hashOf(Buffer.from(DISK));
const ON_SCREEN = hashOf(Buffer.from(TYPED));
const DIFF = "--- a/d/file\n+++ b/d/file\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n";
const WORDS = "*** Begin Patch\n*** Update File: d/file\n@@\n-one\n+ONE\n two\n*** End Patch\n";

let base: string;
let file: string;
let edits: Edits;
let saved: string[];
let canSave: boolean;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-buffers-")));
  const root = join(base, "ws");
  file = join(root, "d/file");
  mkdirSync(join(root, "d"), { recursive: true });
  writeFileSync(file, DISK);
  const confinement = createConfinement([root]);
  const warn = (message: string) => expect.unreachable(message);
  const env = { XDG_STATE_HOME: join(base, "state") };
  const state = openStateFolder({ roots: confinement.roots, env, warn });
  edits = createEdits({ confinement, blobs: createBlobs(state.folder("blobs")), state, warn });
  saved = [];
  canSave = true;
});
afterEach(async () => {
  await edits.close();
  rmSync(base, { recursive: true, force: true });
});

/** A person types into the file, and the editor has not saved it. */
const type = () =>
  edits.useBuffers({
    unsaved: async (path) =>
      path === file && readFileSync(file, "utf8") === DISK ? Buffer.from(TYPED) : undefined,
    async save(path, bytes) {
      if (canSave) writeFileSync(path, bytes);
      saved.push(bytes.toString());
      return canSave;
    },
  });
const onDisk = () => readFileSync(file, "utf8");

const FORMS = [
  ["structured edits", { uri: "d/file", patch: [{ op: "replace", old: "one", new: "ONE" }] }],
  ["a unified diff without uri", { patch: DIFF }],
  ["a patch in words", { patch: WORDS }],
] as const;

describe.each(FORMS)("%s", (_, request) => {
  test("with the hash of what the person sees starts from it, and it is saved", async () => {
    type();
    await edits.apply({ ...request, base_hash: ON_SCREEN });
    expect([saved, onDisk()]).toEqual([[TYPED], "ONE\ntwo\ntyped\n"]);
  });

  test("with the hash of the file on disk is refused, and nothing is saved", async () => {
    type();
    const refused = edits.apply({ ...request, base_hash: ON_DISK });
    await expect(refused).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("unsaved changes in the editor"),
    });
    expect([saved, onDisk()]).toEqual([[], DISK]);
  });

  test("is refused when the editor cannot save", async () => {
    type();
    canSave = false;
    await expect(edits.apply({ ...request, base_hash: ON_SCREEN })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    expect(onDisk()).toBe(DISK);
  });

  test("as a dry run shows what the person sees, and saves nothing", async () => {
    type();
    const { diff } = await edits.apply({ ...request, base_hash: ON_SCREEN, dry_run: true });
    expect(diff).toContain(" typed");
    expect([saved, onDisk()]).toEqual([[], DISK]);
  });
});

test("a patch that does not fit saves nothing", async () => {
  type();
  const patch = [{ op: "replace", old: "three", new: "THREE" }] as const;
  await expect(edits.apply({ uri: "d/file", base_hash: ON_SCREEN, patch })).rejects.toMatchObject({
    code: "PATCH_FAILED",
  });
  expect([saved, onDisk()]).toEqual([[], DISK]);
});

test.each([
  ["an undo", (undo: string) => edits.apply({ patch: undo })],
  ["the removal of the file", () => edits.remove("d/file", { confirm: true, recursive: false })],
  ["the removal of its folder", () => edits.remove("d", { confirm: true, recursive: true })],
])("%s is refused while the file has unsaved changes", async (_, change) => {
  writeFileSync(file, "zero\n");
  const patch = [{ op: "replace", old: "zero\n", new: DISK }] as const;
  const { undo } = await edits.apply({ uri: "d/file", base_hash: hashOf(Buffer.from("zero\n")), patch });
  type();
  await expect(change(undo ?? "")).rejects.toMatchObject({
    code: "CONFLICT",
    message: expect.stringContaining("unsaved changes in the editor; nothing was written"),
  });
  expect([saved, onDisk()]).toEqual([[], DISK]);
});
