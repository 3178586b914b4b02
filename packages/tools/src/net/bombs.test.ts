import * as zlib from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/net/http-server.ts";
import { createNetWorkspace, type NetWorkspace } from "../../testing/net/net-workspace.ts";

const MEGABYTE = 1024 * 1024;
const TEXT = "The quick brown fox. ".repeat(2_000);

const repeat = (bytes: Buffer, count: number) => Buffer.concat(Array.from({ length: count }, () => bytes));

const FAST = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } };

/** Body and encoding by path. */
const BODIES = new Map<string, readonly [body: Buffer, encoding: string]>();

let server: TestServer;
let ws: NetWorkspace;
beforeAll(async () => {
  const { gzipSync, brotliCompressSync, zstdCompressSync, deflateSync, deflateRawSync } = zlib;
  const plain = Buffer.from(TEXT);
  // A gzip file may have many members: a gigabyte of zeros in a megabyte.
  const gigabyte = repeat(gzipSync(Buffer.alloc(10 * MEGABYTE), { level: 9 }), 100);
  // Empty members: a big layer around an empty one.
  const hollow = gzipSync(repeat(gzipSync(""), 600_000));
  const wideWindow = zstdCompressSync(Buffer.alloc(64 * MEGABYTE), {
    params: { [zlib.constants.ZSTD_c_windowLog]: 26 },
  });
  for (const [path, body, encoding] of [
    ["/gzip", gzipSync(plain), "gzip"],
    ["/x-gzip", gzipSync(plain), "X-GZIP"],
    ["/deflate", deflateSync(plain), "deflate"],
    ["/raw", deflateRawSync(plain), "deflate"],
    ["/br", brotliCompressSync(plain), "br"],
    ["/zstd", zstdCompressSync(plain), "zstd"],
    ["/twice", brotliCompressSync(gzipSync(plain)), "gzip, br"],
    ["/identity", plain, "identity"],
    ["/empty", Buffer.alloc(0), "gzip"],
    ["/bomb/gzip", gigabyte, "gzip"],
    ["/bomb/br", brotliCompressSync(Buffer.alloc(100 * MEGABYTE), FAST), "br"],
    ["/bomb/zstd", zstdCompressSync(Buffer.alloc(100 * MEGABYTE)), "zstd"],
    ["/bomb/nested", gzipSync(gigabyte), "gzip, gzip"],
    ["/bomb/hollow", hollow, "gzip, gzip"],
    ["/bomb/window", wideWindow, "zstd"],
    ["/torn/gzip", gzipSync(plain).subarray(0, 60), "gzip"],
    ["/torn/br", brotliCompressSync(plain).subarray(0, 20), "br"],
    ["/torn/zstd", zstdCompressSync(plain).subarray(0, 30), "zstd"],
    ["/lie/gzip", plain, "gzip"],
    ["/lie/br", plain, "br"],
    ["/lie/zstd", plain, "zstd"],
    ["/unknown", plain, "compress"],
    ["/often", plain, "gzip, gzip, gzip, gzip"],
  ] as const)
    BODIES.set(path, [body, encoding]);
  server = await startTestServer(({ url = "" }, response) => {
    const [body, encoding] = BODIES.get(url) ?? [Buffer.from("?"), "identity"];
    response.writeHead(200, { "content-type": "text/plain", "content-encoding": encoding }).end(body);
  });
  ws = createNetWorkspace();
});
afterAll(async () => {
  await ws.close();
  await server.close();
});

const paths = (start: string) => [...BODIES.keys()].filter((path) => path.startsWith(start));

test("compressed bodies arrive decompressed", async () => {
  for (const path of ["/gzip", "/x-gzip", "/deflate", "/raw", "/br", "/zstd", "/twice", "/identity"]) {
    const { text, size } = await ws.ok("request", { url: server.origin + path, max_bytes: 100_000 });
    expect({ path, size, isSame: text === TEXT }).toEqual({ path, size: TEXT.length, isSame: true });
  }
  expect((await ws.ok("request", { url: `${server.origin}/empty` })).size).toBe(0);
});

test("bombs are refused at the size limit, in little memory and time", async () => {
  expect(paths("/bomb")).toHaveLength(6);
  for (const path of paths("/bomb")) {
    const before = process.memoryUsage().rss;
    const start = process.cpuUsage();
    const { code } = await ws.fail("request", { url: server.origin + path });
    const [body] = BODIES.get(path)!;
    expect(body.length, `${path} is small`).toBeLessThan(2 * MEGABYTE);
    expect(["TOO_LARGE", "UPSTREAM_ERROR"], path).toContain(code);
    expect(process.cpuUsage(start).user, path).toBeLessThan(2_000_000);
    expect(process.memoryUsage().rss - before, path).toBeLessThan(100 * MEGABYTE);
  }
});

test("a download that only grows is refused long before its own limit", async () => {
  const error = await ws.fail("download", { url: `${server.origin}/bomb/gzip`, output: "bomb" });
  expect(error).toMatchObject({ code: "TOO_LARGE", details: { what: "ratio of decompression" } });
});

test("an undecodable body is reported as the server's mistake", async () => {
  for (const path of [...paths("/torn"), ...paths("/lie"), "/unknown"])
    expect(await ws.fail("request", { url: server.origin + path }), path).toMatchObject({
      code: "UPSTREAM_ERROR",
    });
  expect(await ws.fail("request", { url: `${server.origin}/often` })).toMatchObject({
    code: "LIMIT_EXCEEDED",
  });
});

test("max_size applies to the decompressed body", async () => {
  const url = `${server.origin}/gzip`;
  await ws.ok("request", { url, max_size: TEXT.length });
  expect(await ws.fail("request", { url, max_size: TEXT.length - 1 })).toMatchObject({
    code: "TOO_LARGE",
    details: { limit: TEXT.length - 1 },
  });
});
