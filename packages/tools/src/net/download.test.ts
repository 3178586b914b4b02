import { createHash, randomBytes } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { join } from "node:path";
import type { Progress } from "@octant/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/net/http-server.ts";
import { createNetWorkspace, type NetWorkspace, REMOTE } from "../../testing/net/net-workspace.ts";

const FILE = randomBytes(300_000);
const TAG = '"v1"';

/** The server's answer, and the requests it received. */
let serve: (headers: IncomingHttpHeaders, response: ServerResponse) => unknown;
let asked: IncomingHttpHeaders[];
let server: TestServer;
let ws: NetWorkspace;
let url: string;
beforeEach(async () => {
  asked = [];
  server = await startTestServer(({ headers }, response) => {
    asked.push(headers);
    return serve(headers, response);
  });
  url = `${server.origin}/file.bin?token=CANARY`;
  ws = createNetWorkspace();
  serve = whole();
});
afterEach(async () => {
  await ws.close();
  await server.close();
});

const whole =
  (body = FILE, etag: string = TAG) =>
  (_: IncomingHttpHeaders, response: ServerResponse) =>
    response.writeHead(200, { "content-length": body.length, etag }).end(body);

/** Sends the first bytes, and drops the connection when the client has stored them. */
const cutAfter =
  (bytes: number, etag: string | null = TAG, client = ws) =>
  async (_: IncomingHttpHeaders, response: ServerResponse) => {
    response.writeHead(200, { "content-length": FILE.length, ...(etag && { etag }) });
    response.write(FILE.subarray(0, bytes));
    const folder = client.workspace.state.folder("downloads");
    const sizes = () => readdirSync(folder).map((name) => statSync(join(folder, name)).size);
    await expect.poll(sizes).toContain(bytes);
    response.destroy();
  };

/** Answers range requests correctly. */
const ranged =
  ({ body = FILE, etag = TAG } = {}) =>
  ({ range, "if-range": ifRange }: IncomingHttpHeaders, response: ServerResponse) => {
    if (range === undefined || ifRange !== etag) return whole(body, etag)({}, response);
    const start = Number(/^bytes=(\d+)-$/.exec(range)?.[1]);
    const content = body.subarray(start);
    const headers = { etag, "content-range": `bytes ${start}-${body.length - 1}/${body.length}` };
    return response.writeHead(206, { ...headers, "content-length": content.length }).end(content);
  };

const hashOf = (bytes: Buffer) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const kept = () => readdirSync(ws.workspace.state.folder("downloads"));
const written = (name: string) => readFileSync(join(ws.root, name));

test("a file arrives with size, hash, default mode and an undo, and nothing else is left", async () => {
  const answer = await ws.ok("download", { url, output: "a/b/file.bin" });
  expect(answer).toMatchObject({
    uri: `file://${ws.root}/a/b/file.bin`,
    size: FILE.length,
    hash: hashOf(FILE),
    undo: expect.stringMatching(/^blob:/),
    resumed: 0,
  });
  expect(written("a/b/file.bin").equals(FILE)).toBe(true);
  writeFileSync(join(ws.root, "plain"), "");
  expect(statSync(join(ws.root, "a/b/file.bin")).mode).toBe(statSync(join(ws.root, "plain")).mode);
  expect(readdirSync(join(ws.root, "a/b"))).toEqual(["file.bin"]);
  expect(kept()).toEqual([]);
  expect(asked[0]).toMatchObject({ "accept-encoding": "identity" });
});

test("a big file arrives in the same place by another path", async () => {
  const big = Buffer.alloc(33 * 1024 * 1024, "octant");
  serve = whole(big);
  const answer = await ws.ok("download", { url, output: "new/big.bin" });
  expect(answer).toMatchObject({ size: big.length, hash: hashOf(big), undo: null });
  expect(written("new/big.bin").equals(big)).toBe(true);
  expect([readdirSync(join(ws.root, "new")), kept()]).toEqual([["big.bin"], []]);
  expect(statSync(join(ws.root, "new/big.bin")).nlink).toBe(1);
});

test.runIf(process.platform === "linux")("a big file also gets to a place on another disk", async () => {
  const stateHome = mkdtempSync("/dev/shm/octant-net-");
  const far = createNetWorkspace({}, {}, stateHome);
  const big = Buffer.alloc(33 * 1024 * 1024, "octant");
  serve = whole(big);
  expect(statSync(stateHome).dev).not.toBe(statSync(far.root).dev);
  expect(await far.ok("download", { url, output: "big.bin" })).toMatchObject({ hash: hashOf(big) });
  expect(readdirSync(far.root)).toEqual(["big.bin"]);
  expect(readFileSync(join(far.root, "big.bin")).equals(big)).toBe(true);
  expect(readdirSync(far.workspace.state.folder("downloads"))).toEqual([]);
  await far.close();
  rmSync(stateHome, { recursive: true });
});

test("a target that exists, is protected or outside is refused before any request", async () => {
  writeFileSync(join(ws.root, "there"), "old");
  mkdirSync(join(ws.base, "outside"));
  symlinkSync(join(ws.base, "outside"), join(ws.root, "link"));
  for (const [output, code] of [
    ["there", "ALREADY_EXISTS"],
    [".git/hooks/pre-commit", "PROTECTED_PATH"],
    [".mcp.json", "PROTECTED_PATH"],
    ["../x", "OUTSIDE_WORKSPACE"],
    ["link/x", "OUTSIDE_WORKSPACE"],
    ["there/x", "NOT_A_DIRECTORY"],
  ])
    expect((await ws.fail("download", { url, output })).code, output).toBe(code);
  expect(asked).toEqual([]);
  expect(written("there").toString()).toBe("old");
});

test("an interrupted download resumes where it stopped", async () => {
  serve = cutAfter(100_000);
  expect(await ws.fail("download", { url, output: "file.bin" })).toMatchObject({ code: "UPSTREAM_ERROR" });
  expect(readdirSync(ws.root)).toEqual([]);
  expect(kept()).toHaveLength(1);
  expect(kept().join()).not.toContain("CANARY");
  serve = ranged();
  const answer = await ws.ok("download", { url, output: "file.bin" });
  expect(asked[1]).toMatchObject({ range: "bytes=100000-", "if-range": TAG });
  expect(answer).toMatchObject({ resumed: 100_000, size: FILE.length, hash: hashOf(FILE) });
  expect(written("file.bin").equals(FILE)).toBe(true);
  expect(kept()).toEqual([]);
});

test("a file that changed meanwhile starts over", async () => {
  serve = cutAfter(100_000);
  await ws.fail("download", { url, output: "file.bin" });
  const other = randomBytes(50_000);
  serve = ranged({ body: other, etag: '"v2"' });
  expect(await ws.ok("download", { url, output: "file.bin" })).toMatchObject({
    resumed: 0,
    hash: hashOf(other),
  });
});

const REST = FILE.subarray(100_000);

test.each([
  ["begins somewhere else", 206, { etag: TAG, "content-range": "bytes 100010-299999/300000" }],
  ["is of another file", 206, { etag: '"v9"', "content-range": "bytes 100000-299999/300000" }],
  ["has no range", 206, { etag: TAG }],
  ["cannot be satisfied", 416, {}],
])("an answer to a request for the rest that %s is not believed", async (_, status, lie) => {
  serve = cutAfter(100_000);
  await ws.fail("download", { url, output: "file.bin" });
  serve = (headers, response) =>
    headers.range === undefined ? whole()(headers, response) : response.writeHead(status, lie).end(REST);
  expect(await ws.ok("download", { url, output: "file.bin" })).toMatchObject({
    resumed: 0,
    hash: hashOf(FILE),
  });
  expect(asked.map(({ range }) => range)).toEqual([undefined, "bytes=100000-", undefined]);
});

test.each([
  ["no tag", null],
  ["a weak tag", 'W/"v1"'],
])("with %s nothing is kept, since nothing says that the rest would fit", async (_, etag) => {
  serve = cutAfter(100_000, etag);
  await ws.fail("download", { url, output: "file.bin" });
  expect(kept()).toEqual([]);
});

test("another caller, or other headers, do not resume it", async () => {
  const local = createNetWorkspace({ policy: { allow: ["127.0.0.1"] } });
  serve = cutAfter(100_000, TAG, local);
  await local.fail("download", { url, output: "file.bin" });
  serve = ranged();
  await local.ok("download", { url, output: "one" }, { caller: REMOTE });
  await local.ok("download", { url, output: "two", headers: { "X-Key": "1" } });
  expect(asked.map(({ range }) => range)).toEqual([undefined, undefined, undefined]);
  await local.close();
});

test("cancelling closes the connection and keeps the partial file", async () => {
  const begun = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  serve = (_, response) => {
    response.on("close", () => closed.resolve());
    response.writeHead(200, { etag: TAG, "content-length": FILE.length }).write(FILE.subarray(0, 1_000));
  };
  const stop = new AbortController();
  const call = ws.fail(
    "download",
    { url, output: "file.bin" },
    { signal: stop.signal, onProgress: () => begun.resolve() },
  );
  // Progress is reported at most twice a second, so the test watches the file on disk for the first bytes.
  const seen = setInterval(() => {
    const [name] = kept();
    if (name && statSync(join(ws.workspace.state.folder("downloads"), name)).size === 1_000) begun.resolve();
  }, 5);
  await begun.promise;
  clearInterval(seen);
  stop.abort();
  expect(await call).toMatchObject({ code: "CANCELLED" });
  await closed.promise;
  expect(kept()).toEqual([expect.stringMatching(/\.part$/)]);
});

test("an error status is an error, and an oversized file is refused at once", async () => {
  serve = (_, response) => response.writeHead(404).end("gone");
  expect(await ws.fail("download", { url, output: "x" })).toMatchObject({
    code: "UPSTREAM_ERROR",
    details: { status: 404 },
  });
  serve = whole();
  expect(await ws.fail("download", { url, output: "x", max_size: 1_000 })).toMatchObject({
    code: "TOO_LARGE",
    details: { limit: 1_000, actual: FILE.length },
  });
  serve = (_, response) => response.writeHead(200, { etag: TAG }).end(FILE);
  expect(await ws.fail("download", { url, output: "x", max_size: 1_000 })).toMatchObject({
    code: "TOO_LARGE",
  });
  expect([readdirSync(ws.root), kept()]).toEqual([[], []]);
});

test("ten concurrent downloads of one URL are ten whole files, and one wins for one target", async () => {
  serve = ranged();
  await Promise.all(Array.from({ length: 10 }, (_, n) => ws.ok("download", { url, output: `${n}` })));
  for (let n = 0; n < 10; n++) expect(written(`${n}`).equals(FILE)).toBe(true);
  const results = await Promise.all(
    Array.from({ length: 5 }, () => ws.call("download", { url, output: "same" })),
  );
  expect(results.map((envelope) => (envelope.ok ? "ok" : envelope.error.code)).sort()).toEqual([
    ...["ALREADY_EXISTS", "ALREADY_EXISTS", "ALREADY_EXISTS", "ALREADY_EXISTS"],
    "ok",
  ]);
  expect(kept()).toEqual([]);
});

test("progress reports bytes and total", async () => {
  const updates: Progress[] = [];
  await ws.ok("download", { url, output: "x" }, { onProgress: (update) => updates.push(update) });
  expect(updates.at(-1)).toMatchObject({ progress: FILE.length, total: FILE.length });
});

test("a download is blocked like a request, and reveals no secret", async () => {
  for (const target of ["http://169.254.169.254/?CANARY", "http://10.0.0.1/?CANARY"]) {
    const error = await ws.fail("download", {
      url: target,
      output: "x",
      headers: { Authorization: "CANARY" },
    });
    expect(error.code).toBe("NET_BLOCKED");
    expect(JSON.stringify(error)).not.toContain("CANARY");
  }
});

test("the next download removes the leftovers of a process that was killed during a copy", async () => {
  const folder = ws.workspace.state.folder("downloads");
  const temp = ".octant-01234567-89ab-cdef-0123-456789abcdef.tmp";
  writeFileSync(join(ws.root, temp), "half");
  writeFileSync(join(ws.root, "mine"), "whole");
  const note = (name: string) => JSON.stringify({ by: "999999999:1", temp: join(ws.root, name) });
  writeFileSync(join(folder, "a.copy"), note(temp));
  writeFileSync(join(folder, "b.copy"), note("mine"));
  writeFileSync(join(folder, "c.copy"), "torn");
  await ws.ok("download", { url, output: "x" });
  expect(readdirSync(ws.root).sort()).toEqual(["mine", "x"]);
  expect(kept()).toEqual([]);
});
