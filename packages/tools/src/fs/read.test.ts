import { execFileSync, spawn } from "node:child_process";
import { closeSync, ftruncateSync, openSync, symlinkSync, utimesSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Range } from "@octant/core";
import { hashOf } from "@octant/host";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createReadingFixture, type ReadingFixture } from "../../testing/fs/reading-fixture.ts";

let at: ReadingFixture;

beforeEach(() => {
  at = createReadingFixture();
});
afterEach(() => at[Symbol.dispose]());

/** The tests build arbitrary inputs; the dispatcher validates them. */
const readOne = (input: Record<string, unknown>) => at.fs.read(input as { uri: string });
const span = (startLine: number, startCol: number, endLine: number, endCol: number): Range => ({
  start: { line: startLine, col: startCol },
  end: { line: endLine, col: endCol },
});

test("a small file is returned whole, with all its metadata", async () => {
  at.put("a b.txt", "one\ntwo\n");
  expect(await readOne({ uri: "a b.txt" })).toEqual({
    uri: `file://${at.root}/a%20b.txt`,
    encoding: "utf-8",
    text: "one\ntwo\n",
    truncated: false,
    hash: hashOf(Buffer.from("one\ntwo\n")),
    size: 8,
    mtime: expect.stringMatching(/^\d{4}-.*Z$/),
    eol: "lf",
    bom: false,
    line_count: 2,
  });
});

describe("encodings and endings", () => {
  const utf16be = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le").swap16();
  test.each([
    ["empty", Buffer.from(""), { text: "", encoding: "utf-8", eol: "none", bom: false, line_count: 0 }],
    ["no final newline", Buffer.from("a\nb"), { text: "a\nb", eol: "lf", line_count: 2 }],
    ["crlf", Buffer.from("a\r\nb\r\n"), { text: "a\r\nb\r\n", eol: "crlf", line_count: 2 }],
    ["mixed", Buffer.from("a\r\nb\n"), { eol: "mixed", line_count: 2 }],
    ["one line", Buffer.from("a"), { eol: "none", line_count: 1 }],
    ["UTF-8 mark", Buffer.from("\ufeffä\n"), { text: "ä\n", encoding: "utf-8", bom: true, line_count: 1 }],
    [
      "UTF-16LE",
      Buffer.from("\ufeffä\n", "utf16le"),
      { text: "ä\n", encoding: "utf-16le", bom: true, eol: "lf" },
    ],
    ["UTF-16BE", utf16be("ä\r\n"), { text: "ä\r\n", encoding: "utf-16be", bom: true, eol: "crlf" }],
    ["Latin-1", Buffer.from("\xe4\n", "latin1"), { base64: "5Ao=", encoding: "base64" }],
    ["NUL", Buffer.from("a\0b"), { base64: "YQBi", encoding: "base64" }],
    ["half a UTF-16 character", Buffer.from("\ufeff\ud800", "utf16le"), { encoding: "base64" }],
    ["svg", Buffer.from("<svg/>"), { text: "<svg/>" }],
  ])("%s", async (_name, bytes, expected) => {
    at.put("f", bytes);
    expect(await readOne({ uri: "f" })).toMatchObject({
      ...expected,
      hash: hashOf(bytes),
      size: bytes.length,
    });
  });

  test("binary content is NOT_TEXT when text is requested", async () => {
    at.put("f", Buffer.of(0xff, 0, 1));
    expect(await at.failure("read", { uri: "f", encoding: "utf-8" })).toBe("NOT_TEXT");
  });

  test("text is returned in base64 on request, byte for byte", async () => {
    at.put("f", "\ufeffhello");
    const { base64, text } = await readOne({ uri: "f", encoding: "base64" });
    expect([Buffer.from(base64 ?? "", "base64").toString(), text]).toEqual(["\ufeffhello", undefined]);
  });

  test("in base64 a range counts bytes", async () => {
    at.put("f", "0123456789");
    const { base64, range } = await readOne({ uri: "f", encoding: "base64", range: span(0, 3, 0, 6) });
    expect([Buffer.from(base64 ?? "", "base64").toString(), range]).toEqual(["345", span(0, 3, 0, 6)]);
  });
});

describe("ranges", () => {
  test("a range past the end returns the existing part and says so", async () => {
    at.put("f", "one\ntwo");
    expect(await readOne({ uri: "f", range: span(1, 1, 9, 0) })).toMatchObject({
      text: "wo",
      range: span(1, 1, 1, 3),
    });
    expect(await readOne({ uri: "f", range: span(7, 0, 9, 0) })).toMatchObject({
      text: "",
      range: span(1, 3, 1, 3),
    });
  });

  test("a column past the end of its line is clamped before the line ending", async () => {
    at.put("f", "one\r\ntwo\r\n");
    expect(await readOne({ uri: "f", range: span(0, 1, 0, 99) })).toMatchObject({
      text: "ne",
      range: span(0, 1, 0, 3),
    });
    expect(await readOne({ uri: "f", range: span(0, 4, 1, 0) })).toMatchObject({ text: "\r\n" });
  });

  test("a column never splits a character", async () => {
    at.put("f", "a😀b");
    expect(await readOne({ uri: "f", range: span(0, 2, 0, 4) })).toMatchObject({
      text: "😀b",
      range: span(0, 1, 0, 4),
    });
    expect(await readOne({ uri: "f", range: span(0, 0, 0, 2) })).toMatchObject({ text: "a" });
  });

  test("columns do not count the byte order mark", async () => {
    at.put("f", "\ufeffhello\nyou\n");
    expect(await readOne({ uri: "f", range: span(0, 1, 1, 1) })).toMatchObject({
      text: "ello\ny",
      bom: true,
    });
  });

  test("a range that ends before it starts is refused", async () => {
    at.put("f", "x");
    expect(await at.failure("read", { uri: "f", range: span(1, 0, 0, 5) })).toBe("INVALID_ARGUMENT");
  });

  test("any range of any text equals a split by hand", async () => {
    const text = fc
      .array(fc.constantFrom("a", "bc", "\n", "\r\n", "\r", "ä", "€", "😀"), { maxLength: 30 })
      .map((parts) => parts.join(""));
    const position = fc.record({ line: fc.nat(8), col: fc.nat(8) });
    await fc.assert(
      fc.asyncProperty(text, position, position, async (content, one, other) => {
        const [start, end] = [one, other].sort((a, b) => a.line - b.line || a.col - b.col) as [
          typeof one,
          typeof one,
        ];
        at.put("f", content);
        const { text: got } = await readOne({ uri: "f", range: { start, end } });
        expect(got).toBe(content.slice(offsetOf(content, start), offsetOf(content, end)));
      }),
      { numRuns: 300 },
    );
  });

  test("ranges of a big file are right across its chunks, also from the cache", async () => {
    const lines = Array.from(
      { length: 60_000 },
      (_, i) => `${i} ${"ä€😀x".repeat(i % 12)}${i % 3 ? "" : "\r"}`,
    );
    const path = at.put("big.txt", `\ufeff${lines.join("\n")}`);
    utimesSync(path, 1e9, 1e9);
    for (const line of [0, 1, 1023, 1024, 1025, 30_000, 59_990, 0]) {
      const { text, hash, line_count } = await readOne({ uri: "big.txt", range: span(line, 0, line + 5, 0) });
      const tail = line + 5 < lines.length ? "\n" : "";
      expect(text).toBe(lines.slice(line, line + 5).join("\n") + tail);
      expect([hash, line_count]).toEqual([hashOf(Buffer.from(`\ufeff${lines.join("\n")}`)), 60_000]);
    }
  });
});

/** The reference: lines end in \n or \r\n, columns are UTF-16 units and never inside a character. */
function offsetOf(content: string, { line, col }: { line: number; col: number }): number {
  const starts = [0, ...[...content.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const start = starts[line];
  if (start === undefined) return content.length;
  const end = start + (/^[^\n]*?(?=\r?\n|$(?!\n))/.exec(content.slice(start))?.[0].length ?? 0);
  const offset = Math.min(start + col, end);
  return /^[\udc00-\udfff]/.test(content.slice(offset)) ? offset - 1 : offset;
}

describe("budget", () => {
  test("long content comes as head and tail, cut at lines, and the rest can be read", async () => {
    const lines = Array.from({ length: 5_000 }, (_, i) => `line ${i}\n`);
    at.put("f", lines.join(""));
    const data = await readOne({ uri: "f", max_bytes: 1_000 });
    expect(data).toMatchObject({ truncated: true, ref: `file://${at.root}/f`, line_count: 5_000 });
    const { text = "", tail = "", omitted } = data;
    expect(text.length + tail.length).toBeLessThanOrEqual(1_000);
    expect(lines.join("").startsWith(text) && text.endsWith("\n")).toBe(true);
    expect(lines.join("").endsWith(tail) && tail.startsWith("line ")).toBe(true);
    expect(omitted?.bytes).toBe(lines.join("").length - text.length - tail.length);
    const end = { line: (omitted?.start.line ?? 0) + (omitted?.lines ?? 0), col: 0 };
    const rest = await readOne({ uri: "f", range: { start: omitted?.start, end }, max_bytes: 1_000_000 });
    expect(text + rest.text + tail).toBe(lines.join(""));
  });

  test("one long line is cut between characters", async () => {
    at.put("f", "€😀".repeat(1_000));
    const { text = "", tail = "", omitted } = await readOne({ uri: "f", max_bytes: 100 });
    expect("€😀".repeat(1_000).startsWith(text) && "€😀".repeat(1_000).endsWith(tail)).toBe(true);
    expect(omitted).toMatchObject({ lines: 0, start: { line: 0, col: text.length } });
    const rest = await readOne({
      uri: "f",
      range: { start: omitted?.start, end: { line: 1 } },
      max_bytes: 10_000,
    });
    expect(text + rest.text).toBe("€😀".repeat(1_000));
  });

  test("bytes come as head and tail too, and the middle by range", async () => {
    const bytes = Buffer.from(Array.from({ length: 10_000 }, (_, i) => (i * 7) % 256));
    at.put("f", bytes);
    const { base64 = "", tail = "", omitted } = await readOne({ uri: "f", max_bytes: 400 });
    expect(base64.length + tail.length).toBeLessThanOrEqual(408);
    const range = {
      start: omitted?.start,
      end: { line: 0, col: (omitted?.start.col ?? 0) + (omitted?.bytes ?? 0) },
    };
    const middle = await readOne({ uri: "f", range, max_bytes: 100_000 });
    const parts = [base64, middle.base64 ?? "", tail].map((part) => Buffer.from(part, "base64"));
    expect(Buffer.concat(parts).equals(bytes)).toBe(true);
  });
});

describe("many files", () => {
  test("a list returns rows in order, each with its data or its error", async () => {
    at.put("a", "A");
    at.put("b", "B");
    const data = await at.fs.read({ uri: ["a", "missing", "../out", "b"] });
    expect(data).toMatchObject({
      files: [
        { text: "A" },
        { uri: "missing", error: { code: "NOT_FOUND" } },
        { uri: "../out", error: { code: "OUTSIDE_WORKSPACE" } },
        { text: "B" },
      ],
    });
  });

  test("the budget is shared, and small files leave more for big ones", async () => {
    at.put("small", "x\n");
    at.put("big", "line\n".repeat(10_000));
    const { files = [] } = await at.fs.read({ uri: ["small", "big", "small"], max_bytes: 1_000 });
    const lengths = files.map((file) =>
      "error" in file ? 0 : (file.text?.length ?? 0) + (file.tail?.length ?? 0),
    );
    expect(lengths[0]).toBe(2);
    expect(lengths[1]).toBeGreaterThan(400);
    expect(lengths.reduce((sum, length) => sum + length)).toBeLessThanOrEqual(1_000);
  });
});

describe("pictures", () => {
  const PNG = Buffer.from("\x89PNG\r\n\x1a\nrest", "latin1");

  test.each([
    ["image/png", PNG],
    ["image/jpeg", Buffer.from("\xff\xd8\xff\xe0", "latin1")],
    ["image/gif", Buffer.from("GIF89a")],
    ["image/webp", Buffer.from("RIFF\x01\x02\x03\x04WEBPVP8 ", "latin1")],
  ])("%s is attached", async (mime, bytes) => {
    at.put("picture", bytes);
    const { envelope, attachments } = await at.call("read", { uri: "picture" });
    expect(attachments).toEqual([{ kind: "image", mime, bytes }]);
    expect(envelope.data).toMatchObject({ encoding: "image", mime, size: bytes.length, hash: hashOf(bytes) });
    expect(envelope.data).not.toHaveProperty("base64");
  });

  test("a picture of some megabytes is attached, a bigger one returned as bytes", async () => {
    at.put("fits", Buffer.concat([PNG, Buffer.alloc(4 * 1024 * 1024)]));
    at.put("big", Buffer.concat([PNG, Buffer.alloc(5 * 1024 * 1024)]));
    expect((await at.call("read", { uri: "fits" })).attachments).toHaveLength(1);
    const { envelope, attachments } = await at.call("read", { uri: "big" });
    expect(attachments).toEqual([]);
    expect(envelope.data).toMatchObject({ encoding: "base64", truncated: true });
  });

  test("many pictures share the picture budget", async () => {
    at.put("p", Buffer.concat([PNG, Buffer.alloc(2 * 1024 * 1024)]));
    expect((await at.call("read", { uri: ["p", "p", "p"] })).attachments).toHaveLength(2);
  });

  test("base64 and ranges of a picture are bytes", async () => {
    at.put("p", PNG);
    expect(await readOne({ uri: "p", encoding: "base64" })).toMatchObject({ base64: PNG.toString("base64") });
    expect(await readOne({ uri: "p", range: span(0, 1, 0, 4) })).toMatchObject({ base64: "UE5H" });
  });
});

describe("refs", () => {
  test("a blob reads like a file, by range and within the budget", async () => {
    const bytes = Buffer.from("one\ntwo\nthree\n".repeat(1_000));
    const ref = `blob:${at.blobs.put(bytes)}`;
    expect(await readOne({ uri: ref, range: span(1, 0, 2, 0) })).toMatchObject({
      uri: ref,
      text: "two\n",
      hash: ref.slice(5),
    });
    expect(await readOne({ uri: ref, max_bytes: 100 })).toMatchObject({ truncated: true, ref });
  });

  test.each([`blob:${hashOf(Buffer.from("never put"))}`, "stdout:proc_1", "stderr:proc_1"])(
    "%s is NOT_FOUND",
    async (ref) => {
      expect(await at.failure("read", { uri: ref })).toBe("NOT_FOUND");
    },
  );

  test("a blob with modified bytes is NOT_FOUND, whole and by range", async () => {
    const hash = at.blobs.put(Buffer.alloc(100_000, "right"));
    using db = new DatabaseSync(join(at.base, "blobs", "blobs.sqlite"));
    db.exec("UPDATE blobs SET bytes = x'00'");
    expect(await at.failure("read", { uri: `blob:${hash}` })).toBe("NOT_FOUND");
    expect(await at.failure("read", { uri: `blob:${hash}`, range: span(0, 0, 0, 2) })).toBe("NOT_FOUND");
  });
});

test("a path that is not a file is refused at once", async () => {
  execFileSync("mkfifo", [join(at.root, "pipe")]);
  symlinkSync("/etc/passwd", join(at.root, "link"));
  expect(await at.failure("read", { uri: "pipe" })).toBe("NOT_A_FILE");
  expect(await at.failure("read", { uri: "." })).toBe("NOT_A_FILE");
  expect(await at.failure("read", { uri: "nothing" })).toBe("NOT_FOUND");
  expect(await at.failure("read", { uri: "link" })).toBe("OUTSIDE_WORKSPACE");
});

test("the hash always matches the returned bytes, however often a file changes", async () => {
  const path = at.put("f", "x".repeat(100_000));
  for (let i = 0; i < 50; i++) {
    const content = `${i % 10}`.repeat(100_000);
    at.put("f", content);
    utimesSync(path, 1e9, 1e9);
    expect((await readOne({ uri: "f", range: span(0, 0, 0, 1) })).hash).toBe(hashOf(Buffer.from(content)));
  }
});

describe("huge files", () => {
  const MAX_GROWTH_BYTES = 150 * 1024 * 1024;

  /** The peak memory of the process during the work. */
  const growthOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = process.memoryUsage.rss();
    let most = before;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss());
    }, 5);
    await work();
    clearInterval(timer);
    return Math.max(most, process.memoryUsage.rss()) - before;
  };

  test("2 GiB: head and tail, a range near the start, and bytes near the end", async () => {
    const fd = openSync(at.put("huge", "first\nsecond\n".padEnd(70_000, "x")), "r+");
    ftruncateSync(fd, 2 ** 31);
    writeSync(fd, "\nlast\n", 2 ** 31);
    closeSync(fd);
    const growth = await growthOf(async () => {
      const range = span(1, 0, 1, 6);
      expect(await readOne({ uri: "huge", range })).toMatchObject({
        text: "second",
        hash: null,
        line_count: null,
        range,
      });
      const whole = await readOne({ uri: "huge", max_bytes: 100 });
      expect(whole).toMatchObject({ truncated: true, encoding: "base64", hash: null, size: 2 ** 31 + 6 });
      const end = await readOne({ uri: "huge", encoding: "base64", range: span(0, 2 ** 31, 1, 0) });
      expect(end.base64).toBe(Buffer.from("\nlast\n").toString("base64"));
    });
    expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
  });

  test("a line of 100 MB is cut, or read by columns, and other calls are served meanwhile", async () => {
    const path = at.put("line", "");
    const fd = openSync(path, "w");
    const part = Buffer.alloc(1024 * 1024, "0123456789abcdef");
    for (let i = 0; i < 100; i++) writeSync(fd, part);
    writeSync(fd, "\nsecond\n");
    closeSync(fd);
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const growth = await growthOf(async () => {
      expect(await readOne({ uri: "line", range: span(0, 16, 0, 20) })).toMatchObject({ text: "0123" });
      expect(await readOne({ uri: "line", range: span(1, 0, 2, 0) })).toMatchObject({ text: "second\n" });
      const {
        text = "",
        tail = "",
        omitted,
      } = await readOne({ uri: "line", range: span(0, 0, 1, 0), max_bytes: 1_000 });
      expect([text.length, tail.at(-1), omitted?.lines]).toEqual([500, "\n", 0]);
    });
    clearInterval(timer);
    expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
    expect(turns).toBeGreaterThan(5);
  });

  test("a cancelled call stops counting", async () => {
    const fd = openSync(at.put("huge", "text\n".repeat(20_000)), "r+");
    ftruncateSync(fd, 2 ** 32);
    closeSync(fd);
    const abort = new AbortController();
    const reading = at.call(
      "read",
      { uri: "huge", range: span(50_000, 0, 60_000, 0) },
      { signal: abort.signal },
    );
    setImmediate(() => abort.abort());
    expect((await reading).envelope.error?.code).toBe("CANCELLED");
  });
});

test("a file that grows while being read never gets a wrong hash", async () => {
  const path = at.put("log", "line\n".repeat(1_000_000));
  const writer = spawn(process.execPath, [
    "-e",
    `const fs=require("fs");process.stdout.write("ready");for(;;)fs.appendFileSync(${JSON.stringify(path)},"more\\n")`,
  ]);
  await new Promise((ready) => writer.stdout.once("data", ready));
  const { hash, text } = await readOne({ uri: "log", range: span(10, 0, 11, 0) });
  writer.kill("SIGKILL");
  expect([hash, text]).toEqual([null, "line\n"]);
});
