import { closeSync, mkdtempSync, openSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFactsCache, factsOf, SMALL_FILE_BYTES } from "./file-facts.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-facts-"));
  path = join(folder, "file");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function withOpen<T>(run: (fd: number) => Promise<T> | T): Promise<T> {
  const fd = openSync(path, "r");
  try {
    return await run(fd);
  } finally {
    closeSync(fd);
  }
}

const HOUR_MS = 3_600_000;
const inAnHour = () => Date.now() + HOUR_MS;

const fill = (unit: string | Buffer) => {
  const bytes = Buffer.from(unit);
  const count = Math.ceil((SMALL_FILE_BYTES + 1_500_000) / bytes.length);
  return Buffer.concat(Array<Buffer>(count).fill(bytes));
};

test.each([
  ["text of wide characters", fill("a€😀ä\n")],
  ["text with a mark", Buffer.concat([Buffer.from("\ufeff"), fill("€\r\n")])],
  ["CR and LF in different chunks", fill("x\r\n")],
  ["one long line", fill("0123456789")],
  ["Latin-1", fill(Buffer.from("caf\xe9\n", "latin1"))],
  ["NUL at the very end", Buffer.concat([fill("abc\n"), Buffer.of(0)])],
  ["half a character at the end", Buffer.concat([fill("abc\n"), Buffer.of(0xe2, 0x82)])],
  ["UTF-16", Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from(fill("aä\n").toString(), "utf16le")])],
])("a file seen chunk by chunk has the facts of one seen whole: %s", async (_name, bytes) => {
  writeFileSync(path, bytes);
  const facts = await withOpen((fd) => createFactsCache().of(fd));
  expect(facts).toEqual(factsOf(bytes));
});

test("facts of a settled file are remembered until it changes", async () => {
  const cache = createFactsCache(inAnHour);
  writeFileSync(path, "one\n");
  const facts = await withOpen((fd) => cache.of(fd));
  expect(await withOpen((fd) => cache.known(fd))).toBe(facts);
  writeFileSync(path, "two\n");
  expect(await withOpen((fd) => cache.known(fd))).toBeUndefined();
});

test("facts of a file that changed a moment ago are not remembered, whatever its mtime says", async () => {
  const cache = createFactsCache();
  writeFileSync(path, "one\n");
  utimesSync(path, 1e9, 1e9);
  await withOpen((fd) => cache.of(fd));
  expect(await withOpen((fd) => cache.known(fd))).toBeUndefined();
});

test("the oldest are forgotten, so that memory stays bounded", async () => {
  const cache = createFactsCache(inAnHour);
  writeFileSync(path, "first");
  await withOpen((fd) => cache.of(fd));
  expect(await withOpen((fd) => cache.known(fd))).toBeDefined();
  const first = path;
  for (let i = 0; i < 300; i++) {
    path = join(folder, `${i}`);
    writeFileSync(path, `${i}`);
    await withOpen((fd) => cache.of(fd));
  }
  path = first;
  expect(await withOpen((fd) => cache.known(fd))).toBeUndefined();
});

test("a scan that was given up stops", async () => {
  writeFileSync(path, fill("text\n"));
  const abort = new AbortController();
  abort.abort();
  await expect(withOpen((fd) => createFactsCache().of(fd, { signal: abort.signal }))).rejects.toThrow();
});
