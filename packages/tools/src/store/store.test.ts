import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CallOptions, createCursors, createDispatcher, createRegistry, type Reply } from "@octant/core";
import { createWorkspace, hashOf, type Workspace } from "@octant/host";
import { afterEach, beforeEach, expect, test } from "vitest";
import { annotation } from "./annotation.ts";
import { artifact } from "./artifact.ts";
import { cas } from "./cas.ts";
import { config } from "./config.ts";
import { graph } from "./graph.ts";

let base: string;
let workspace: Workspace;
const bugs: unknown[] = [];

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-store-")));
  writeFileSync(join(base, "README.md"), "# Demo\n");
  open();
});
afterEach(async () => {
  await workspace.close();
  rmSync(base, { recursive: true, force: true });
  expect(bugs).toEqual([]);
});

function open(): void {
  workspace = createWorkspace({ roots: [base], env: { XDG_STATE_HOME: `${base}-state` }, warn: () => {} });
}

const SETTINGS = [
  { key: "model", value: "m", source: "user" },
  { key: "sandbox.mode", value: "workspace", source: "default" },
  { key: "sandbox.network", value: "on", source: "project" },
];

// biome-ignore lint/suspicious/noExplicitAny: the data of any action.
async function call(name: string, input: object = {}, more: Partial<CallOptions> = {}): Promise<any> {
  const { envelope } = await reply(name, input, more);
  return envelope.ok ? envelope.data : { failed: envelope.error.code, message: envelope.error.message };
}
let paging: { cursor: string | null };
async function reply(name: string, input: object, more: Partial<CallOptions> = {}): Promise<Reply> {
  const [tool = "", action = ""] = name.split(".");
  const tools = [
    cas(workspace),
    artifact(workspace),
    annotation(workspace),
    graph(workspace),
    config(() => SETTINGS),
  ];
  const dispatch = createDispatcher({
    registry: createRegistry(tools),
    cursors: createCursors(new Uint8Array(32)),
    onBug: ({ cause }) => bugs.push(cause),
  });
  const answer = await dispatch({ tool, action, input }, { caller: { id: "me", access: "admin" }, ...more });
  ({ paging } = answer.envelope.meta);
  return answer;
}

test("content is stored once under its hash, and can be read from any byte", async () => {
  const text = `${"ä".repeat(30_000)}\n`;
  const stored = await call("cas.store", { content: text });
  expect(stored).toEqual({
    hash: hashOf(Buffer.from(text)),
    size: 60_001,
    ref: `cas:${hashOf(Buffer.from(text))}`,
  });
  expect(await call("cas.store", { content: text })).toEqual(stored);
  expect(await call("cas.inspect", { hash: stored.hash })).toEqual(stored);
  const first = await call("cas.get", { hash: stored.hash, max_bytes: 10_001 });
  expect(first).toMatchObject({ text: "ä".repeat(5_000), truncated: true, next_offset: 10_000 });
  const rest = await call("cas.get", { hash: stored.hash, offset: 10_000, max_bytes: 100_000 });
  expect(first.text + rest.text).toBe(text);
  expect(rest).toMatchObject({ truncated: false });
});

test("bytes travel beside the call", async () => {
  const chunks = [Buffer.from([0, 255]), Buffer.from([1, 2, 3])];
  const upload = {
    mime: "x/y",
    size: 5,
    async *read() {
      yield* chunks;
    },
  };
  const stored = await call("cas.store", {}, { upload });
  expect(stored).toMatchObject({ hash: hashOf(Buffer.concat(chunks)), size: 5 });
  expect(await call("cas.get", { hash: stored.hash })).toMatchObject({
    encoding: "base64",
    base64: "AP8BAgM=",
  });
  expect(await call("cas.get", { hash: stored.hash, as: "utf-8" })).toMatchObject({ failed: "NOT_TEXT" });
  const { binary, envelope } = await reply("cas.get", { hash: stored.hash, as: "binary" });
  expect(envelope.data).toMatchObject({ encoding: "binary", ref: stored.ref });
  expect(Buffer.concat(await Array.fromAsync(binary?.read() ?? []))).toEqual(Buffer.concat(chunks));
});

test("bytes beside an answer obey offset and max_bytes, from the store and from the undo history", async () => {
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, n) => n % 251));
  const stored = await call("cas.store", { content: bytes.toString("base64"), encoding: "base64" });
  const kept = Buffer.from("an earlier version");
  const get = async (hash: string, more: object) => {
    const { binary, envelope } = await reply("cas.get", { hash, as: "binary", ...more });
    const got = Buffer.concat(await Array.fromAsync(binary?.read() ?? []));
    expect(got.length).toBe(binary?.size);
    return { got, data: envelope.data };
  };
  for (const [hash, whole] of [
    [stored.hash, bytes],
    [workspace.blobs.put(kept), kept],
  ] as const)
    for (const [offset, max_bytes] of [
      [0, undefined],
      [5, 7],
      [16_384, 20_000],
      [whole.length - 1, 9],
      [whole.length + 1, 9],
    ] as const) {
      const end = max_bytes === undefined ? whole.length : Math.min(offset + max_bytes, whole.length);
      const { got, data } = await get(hash, { offset, ...(max_bytes && { max_bytes }) });
      expect(got.equals(whole.subarray(offset, end))).toBe(true);
      const isMore = end < whole.length;
      expect(data).toMatchObject({ truncated: isMore, ...(isMore && { next_offset: end }) });
    }
});

test("an interrupted upload leaves nothing", async () => {
  const cancel = new AbortController();
  const upload = {
    mime: "x/y",
    size: 9,
    async *read() {
      yield Buffer.from("half");
      cancel.abort();
      yield Buffer.from("other");
    },
  };
  expect(await call("cas.store", {}, { upload, signal: cancel.signal })).toMatchObject({
    failed: "CANCELLED",
  });
  expect(await call("cas.inspect", { hash: hashOf(Buffer.from("half")) })).toMatchObject({
    failed: "NOT_FOUND",
  });
});

test("invalid base64 and missing content are typed errors", async () => {
  expect(await call("cas.store", { content: "?", encoding: "base64" })).toMatchObject({
    failed: "INVALID_ARGUMENT",
  });
  expect(await call("cas.store", {})).toMatchObject({ failed: "INVALID_ARGUMENT" });
  expect(await call("cas.get", { hash: `sha256:${"0".repeat(64)}` })).toMatchObject({ failed: "NOT_FOUND" });
});

test("replaced file contents can also be read by their hashes", async () => {
  const hash = workspace.blobs.put(Buffer.from("before"));
  expect(await call("cas.get", { hash })).toMatchObject({ text: "before", ref: `blob:${hash}` });
});

test("artifacts have tags, a creator and parents, and can be found by them after a restart", async () => {
  const { artifact: parent } = await call("artifact.upload", {
    name: "a.txt",
    content: "a",
    tags: ["x", "y", "x"],
  });
  const child = {
    name: "b.txt",
    content: "b",
    mime: "text/plain",
    tags: ["x"],
    parents: [parent.artifact_id],
    creator: "robot",
  };
  const { artifact: made } = await call("artifact.upload", child);
  expect(parent).toMatchObject({ creator: "me", tags: ["x", "y"], parents: [] });
  await workspace.close();
  open();
  const names = async (filter: object) =>
    (await call("artifact.list", filter)).artifacts.map(({ name }: { name: string }) => name);
  expect(await names({})).toEqual(["b.txt", "a.txt"]);
  expect(await names({ tags: ["x"] })).toEqual(["b.txt", "a.txt"]);
  expect(await names({ tags: ["x", "y"] })).toEqual(["a.txt"]);
  expect(await names({ creator: "robot" })).toEqual(["b.txt"]);
  expect(await names({ parent: parent.artifact_id })).toEqual(["b.txt"]);
  expect(await call("artifact.get", { artifact_id: made.artifact_id })).toMatchObject({
    artifact: made,
    text: "b",
  });
  expect(await names({ limit: 1 })).toEqual(["b.txt"]);
  expect(await names({ limit: 1, cursor: paging.cursor })).toEqual(["a.txt"]);
});

test("an artifact without a given type is recognised as text or bytes", async () => {
  const mimeOf = async (input: object) =>
    (await call("artifact.upload", { name: "a", ...input })).artifact.mime;
  const base64 = (...bytes: number[]) => ({
    content: Buffer.from(bytes).toString("base64"),
    encoding: "base64",
  });
  expect(await mimeOf({ content: "# Notes\n" })).toBe("text/plain");
  expect(await mimeOf({ content: "ä".repeat(40_000) })).toBe("text/plain");
  expect(await mimeOf({ content: "" })).toBe("text/plain");
  expect(await mimeOf(base64(0x89, 0x50, 0x4e, 0x47))).toBe("application/octet-stream");
  expect(await mimeOf({ content: "a\0b" })).toBe("application/octet-stream");
  expect(await mimeOf({ content: "{}", mime: "application/json" })).toBe("application/json");
  const { hash } = await call("cas.store", { content: "stored before" });
  expect(await mimeOf({ hash })).toBe("text/plain");
});

test("an artifact with missing content or a missing parent is refused and leaves nothing", async () => {
  const absent = `sha256:${"0".repeat(64)}`;
  expect(await call("artifact.upload", { name: "a", hash: absent })).toMatchObject({ failed: "NOT_FOUND" });
  const parents = ["artifact_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6"];
  expect(await call("artifact.upload", { name: "a", content: "a", parents })).toMatchObject({
    failed: "NOT_FOUND",
  });
  const { hash } = await call("cas.store", { content: "a" });
  expect(await call("artifact.upload", { name: "a", content: "b", hash })).toMatchObject({
    failed: "INVALID_ARGUMENT",
  });
  expect(await call("artifact.list")).toEqual({ artifacts: [] });
});

test.each(["artifact", "identity"])("a remark about an unknown %s is refused", async (kind) => {
  const target = `${kind}_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6`;
  expect(await call("annotation.add", { target, text: "lost" })).toMatchObject({ failed: "NOT_FOUND" });
});

test("annotations of a file are found by any spelling of its path", async () => {
  await call("annotation.add", { target: "README.md", text: "first" });
  await call("annotation.add", { target: `file://${base}/README.md`, text: "second", kind: "todo" });
  const texts = async (filter: object) =>
    (await call("annotation.list", filter)).annotations.map(({ text }: { text: string }) => text);
  expect(await texts({ target: "./README.md" })).toEqual(["second", "first"]);
  expect(await texts({ kind: "todo" })).toEqual(["second"]);
  expect(await call("annotation.add", { target: "../out", text: "x" })).toMatchObject({
    failed: "OUTSIDE_WORKSPACE",
  });
});

test("identities are connected, and a query follows connections over several steps, including cycles", async () => {
  const bind = async (name: string, targets: string[] = []) =>
    (await call("graph.bind", { name, targets })).identity.identity_id;
  const [a, b, c, d] = [await bind("a", ["README.md"]), await bind("b"), await bind("c"), await bind("d")];
  expect(await bind("a")).toBe(a);
  for (const [from, to, kind] of [
    [a, b, "uses"],
    [b, c, "uses"],
    [c, a, "uses"],
    [a, d, "tests"],
  ])
    expect(await call("graph.connect", { from, to, kind })).toMatchObject({ changed: true });
  expect(await call("graph.connect", { from: a, to: b, kind: "uses" })).toMatchObject({ changed: false });
  const reached = async (input: object) =>
    (await call("graph.query", { from: a, ...input })).reached.map(
      ({ identity, distance }: { identity: { name: string }; distance: number }) =>
        `${identity.name}${distance}`,
    );
  expect(await reached({})).toEqual(["b1", "d1", "c2"]);
  expect(await reached({ kind: "uses" })).toEqual(["b1", "c2"]);
  expect(await reached({ depth: 1 })).toEqual(["b1", "d1"]);
  expect(await reached({ direction: "in" })).toEqual(["c1", "b2"]);
  expect(await reached({ direction: "both", depth: 16 })).toEqual(["b1", "c1", "d1"]);
  expect(await call("graph.query", { from: a, limit: 1 })).toMatchObject({ truncated: true });
  await call("graph.tag", { identity_id: b, add: ["good", "new"] });
  expect(await call("graph.tag", { identity_id: b, remove: ["new"] })).toMatchObject({
    identity: { tags: ["good"] },
  });
  const found = async (filter: object) =>
    (await call("graph.find", filter)).identities.map(({ name }: { name: string }) => name);
  expect(await found({ tag: "good" })).toEqual(["b"]);
  expect(await found({ target: "README.md" })).toEqual(["a"]);
  await call("annotation.add", { target: "README.md", text: "about the file" });
  const context = await call("graph.context", { target: "README.md" });
  expect(context).toMatchObject({
    identities: [{ name: "a" }],
    annotations: [{ text: "about the file" }],
    truncated: false,
  });
  expect(context.neighbours.map(({ name }: { name: string }) => name).sort()).toEqual(["b", "c", "d"]);
  await call("graph.connect", { from: a, to: b, kind: "uses", remove: true });
  expect(await reached({ kind: "uses" })).toEqual([]);
});

test("settings are found by key and section, and an unknown one lists the sections", async () => {
  expect(await call("config.get", { key: "sandbox" })).toEqual({ settings: SETTINGS.slice(1) });
  expect(await call("config.get", { key: "model" })).toEqual({ settings: [SETTINGS[0]] });
  expect(await call("config.get", { key: "nope" })).toMatchObject({
    failed: "NOT_FOUND",
    message: expect.stringContaining("model, sandbox"),
  });
});
