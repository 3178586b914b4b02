import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createEditWorkspace, type EditWorkspace } from "../../testing/fs/edit-workspace.ts";

let ws: EditWorkspace;
beforeEach(() => {
  ws = createEditWorkspace();
});
afterEach(() => ws.close());

const hashOf = (bytes: string) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** A file that went from "one" to "two" to "three". */
async function edited() {
  const { hash: one } = await ws.ok("write", { uri: "a.txt", content: "one\n" });
  const step = async (base_hash: string, old: string, next: string) => {
    const patch = [{ op: "replace" as const, old, new: next }];
    return (await ws.ok("apply_patch", { uri: "a.txt", base_hash, patch })).files[0]!.hash!;
  };
  const two = await step(one, "one", "two");
  return { one, two, three: await step(two, "two", "three") };
}

test("two states replaced by edits are compared by their hashes", async () => {
  const { one, two } = await edited();
  const { diff } = await ws.ok("diff", { hash_a: one, hash_b: two });
  expect(diff).toContain("-one\n+two\n");
});

test("the current file replaces an absent hash", async () => {
  const { one, three } = await edited();
  const since = await ws.ok("diff", { hash_a: one, uri: "a.txt" });
  expect(since).toMatchObject({ hash_a: one, hash_b: three });
  expect(since.diff).toContain("--- a/a.txt\n+++ b/a.txt\n");
  expect(since.diff).toContain("-one\n+three\n");
  expect((await ws.ok("diff", { uri: "a.txt", hash_b: one })).diff).toContain("-three\n+one\n");
  expect((await ws.ok("diff", { uri: "a.txt", hash_b: three })).diff).toBe("");
});

test("a diff can be applied", async () => {
  const { one, three } = await edited();
  const { diff } = await ws.ok("diff", { uri: "a.txt", hash_b: one });
  await ws.ok("apply_patch", { patch: diff, base_hash: three });
  expect(readFileSync(join(ws.root, "a.txt"), "utf8")).toBe("one\n");
});

test("any other combination than two of the three is refused, and so is an unknown hash", async () => {
  const hash = hashOf("unknown");
  for (const input of [{}, { uri: "a" }, { hash_a: hash }, { uri: "a", hash_a: hash, hash_b: hash }])
    expect((await ws.fail("diff", input)).code).toBe("INVALID_ARGUMENT");
  expect((await ws.fail("diff", { hash_a: hash, hash_b: hash })).code).toBe("NOT_FOUND");
});

test("a long diff comes as head and tail with a ref to the whole", async () => {
  const { one } = await edited();
  const lines = Array.from({ length: 5_000 }, (_, i) => `ä line ${i}\n`).join("");
  writeFileSync(join(ws.root, "a.txt"), lines);
  const answer = await ws.ok("diff", { hash_a: one, uri: "a.txt", max_bytes: 2_000 });
  expect(Buffer.byteLength(answer.diff + answer.tail)).toBeLessThanOrEqual(2_000);
  const whole = ws.blobs.get(answer.ref!.slice("blob:".length)).toString();
  expect(whole.startsWith(answer.diff)).toBe(true);
  expect(whole.endsWith(answer.tail!)).toBe(true);
  expect(Buffer.byteLength(whole)).toBe(
    Buffer.byteLength(answer.diff) + Buffer.byteLength(answer.tail!) + answer.omitted_bytes!,
  );
  const oneByte = await ws.ok("diff", { hash_a: one, uri: "a.txt", max_bytes: 1 });
  expect(oneByte.diff.length + oneByte.tail!.length).toBeLessThanOrEqual(1);
});
