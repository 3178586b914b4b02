import { execFileSync } from "node:child_process";
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createConfinement } from "../confinement.ts";
import { hashOf } from "../hashes.ts";
import { comparePaths } from "../path.ts";
import { createRipgrep } from "./ripgrep.ts";
import { type Searchable, searchText, type TextMatch, type TextSearch } from "./search-text.ts";

const { signal } = new AbortController();
const WIDE: Pick<TextSearch, "context" | "limit" | "maxBytes"> = {
  context: 0,
  limit: 100_000,
  maxBytes: 100_000_000,
};

let root: string;
let searchable: Searchable;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "octant-search-")));
  searchable = searchableOf(root);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const searchableOf = (...roots: string[]): Searchable => {
  const confinement = createConfinement(roots);
  return { confinement, ripgrep: createRipgrep({ confinement, env: {} }) };
};

const put = (name: string, content: string | Buffer, at = root) => {
  mkdirSync(join(at, name, ".."), { recursive: true });
  writeFileSync(join(at, name), content);
};

const search = (options: Partial<TextSearch> & { pattern: string }) =>
  searchText(searchable, { ...WIDE, ...options }, { signal });

const matchesOf = async (options: Partial<TextSearch> & { pattern: string }) =>
  (await search(options)).matches;

const pagesOf = async (options: Partial<TextSearch> & { pattern: string }): Promise<TextMatch[]> => {
  const all: TextMatch[] = [];
  for (let after: TextSearch["after"]; ; ) {
    const page = await search({ ...options, after });
    all.push(...page.matches);
    if (!page.next) {
      expect(page.total).toBe(all.length);
      return all;
    }
    after = page.next;
  }
};

const range = (line: number, col: number, endLine: number, endCol: number) => ({
  start: { line, col },
  end: { line: endLine, col: endCol },
});

test("a match has uri, range, line and the hash of the file", async () => {
  put("src/a b.ts", "one\nexport const two = 2;\n");
  expect(await search({ pattern: "two" })).toEqual({
    matches: [
      {
        uri: pathToFileURL(join(root, "src/a b.ts")).href,
        range: range(1, 13, 1, 16),
        text: "export const two = 2;",
        hash: hashOf(Buffer.from("one\nexport const two = 2;\n")),
      },
    ],
    total: 1,
    next: undefined,
    indexed: false,
    missing: [],
  });
});

test.each<[string, string | Buffer, Partial<TextSearch> & { pattern: string }, unknown[]]>([
  ["several on a line", "ab ab\n", { pattern: "ab" }, [range(0, 0, 0, 2), range(0, 3, 0, 5)]],
  ["multi-byte", "é😀x x\n", { pattern: "x" }, [range(0, 3, 0, 4), range(0, 5, 0, 6)]],
  ["CRLF", "a;\r\nb;\r\n", { pattern: ";$" }, [range(0, 1, 0, 2), range(1, 1, 1, 2)]],
  ["UTF-8 mark", "\ufeffab\n ab", { pattern: "^ ?ab" }, [range(0, 0, 0, 2), range(1, 0, 1, 3)]],
  ["UTF-16", Buffer.from("\ufeffé\nab", "utf16le"), { pattern: "ab" }, [range(1, 0, 1, 2)]],
  ["Latin-1", Buffer.from("caf\xe9 ab\n", "latin1"), { pattern: "ab" }, [range(0, 5, 0, 7)]],
  ["empty matches", "ab\n\nc", { pattern: "^" }, [range(0, 0, 0, 0), range(1, 0, 1, 0), range(2, 0, 2, 0)]],
  ["over lines", "é a\r\nb c\n", { pattern: "a\\s+b", multiline: true }, [range(0, 2, 1, 1)]],
  [
    "two in one block of lines",
    "x a\nb a\nb\n",
    { pattern: "a\nb", multiline: true },
    [range(0, 2, 1, 1), range(1, 2, 2, 1)],
  ],
  ["up to the line end", "a\nb", { pattern: "a\n", multiline: true, fixed: true }, [range(0, 0, 1, 0)]],
  ["smart case", "Ab ab\n", { pattern: "ab" }, [range(0, 0, 0, 2), range(0, 3, 0, 5)]],
  ["smart case with capitals", "Ab ab\n", { pattern: "Ab" }, [range(0, 0, 0, 2)]],
  ["case sensitive", "Ab ab\n", { pattern: "ab", case: "sensitive" }, [range(0, 3, 0, 5)]],
  [
    "case insensitive",
    "Ab ab\n",
    { pattern: "AB", case: "insensitive" },
    [range(0, 0, 0, 2), range(0, 3, 0, 5)],
  ],
  ["words", "abc ab\n", { pattern: "ab", word: true }, [range(0, 4, 0, 6)]],
  ["fixed", "a.b axb\n", { pattern: "a.b", fixed: true }, [range(0, 0, 0, 3)]],
  [
    "max_per_file",
    "a a\na a\n",
    { pattern: "a", maxPerFile: 3 },
    [range(0, 0, 0, 1), range(0, 2, 0, 3), range(1, 0, 1, 1)],
  ],
])("ranges count UTF-16 units from 0: %s", async (_name, content, options, expected) => {
  put("f", content);
  const { matches, total } = await search(options);
  expect(matches.map((match) => match.range)).toEqual(expected);
  expect(total).toBe(expected.length);
});

test("text is the line of the match, or all its lines, without the last line end", async () => {
  put("f", "é a\r\nb c\r\nd");
  expect((await matchesOf({ pattern: "a" })).map(({ text }) => text)).toEqual(["é a"]);
  expect((await matchesOf({ pattern: "a\\s+b", multiline: true }))[0]?.text).toBe("é a\r\nb c");
  expect((await matchesOf({ pattern: "c\r\n", multiline: true }))[0]?.text).toBe("b c");
});

test("context comes as lines before and after, up to the ends of the file", async () => {
  put("f", "1\n2\r\nx\n4\nx\n6");
  const [first, second] = await matchesOf({ pattern: "x", context: 3 });
  expect(first).toMatchObject({ before: ["1", "2"], text: "x", after: ["4", "x", "6"] });
  expect(second).toMatchObject({ before: ["2", "x", "4"], text: "x", after: ["6"] });
  expect(first).not.toHaveProperty("text_truncated");
});

test("a long line is shown in part, round the match and cut between characters", async () => {
  put("f", `${"é".repeat(2_000)}needle${"😀".repeat(2_000)}\n`);
  const [match] = await matchesOf({ pattern: "needle", context: 1 });
  expect(match).toMatchObject({ range: range(0, 2_000, 0, 2_006), text_truncated: true });
  expect(match?.text).toMatch(/^é{50,}needle(😀){50,}$/u);
});

const word = fc.constantFrom("ab", "aba", "b", "é", "😀", " ", "\n", "\r\n", "x");
const text = fc.array(word, { maxLength: 12 }).map((parts) => parts.join(""));
const name = fc.constantFrom("a", "a-b", "a.b", "a/b", "a/c.d", "a.d/e", "é", "z/y/x", "z/y.x");
const tree = fc.uniqueArray(fc.record({ name, content: text }), {
  selector: (file) => file.name,
  maxLength: 6,
});

test("pages of any size hold the same matches as one page, and as a plain search of each text", async () => {
  await fc.assert(
    fc.asyncProperty(
      tree,
      fc.constantFrom("a", "ab", "b", "é", "😀", " "),
      fc.integer({ min: 1, max: 5 }),
      async (files, pattern, limit) => {
        const folder = mkdtempSync(join(root, "tree-"));
        try {
          // "a" cannot be a file and a folder.
          const fitting = files.filter(
            ({ name }) => !files.some((other) => other.name.startsWith(`${name}/`)),
          );
          for (const file of fitting) put(file.name, file.content, folder);
          const options = { pattern, fixed: true, case: "sensitive", path: folder } as const;
          const expected = fitting
            .sort((x, y) => comparePaths(x.name, y.name))
            .flatMap((file) =>
              plainSearch(file.content, pattern).map((found) => ({ name: file.name, ...found })),
            );
          const all = await matchesOf(options);
          expect(
            all.map(({ uri, range, text }) => ({
              name: decodeURIComponent(uri.slice(pathToFileURL(folder).href.length + 1)),
              range,
              text,
            })),
          ).toEqual(expected);
          expect(await pagesOf({ ...options, limit })).toEqual(all);
          expect(await pagesOf({ ...options, limit: limit + 2, maxBytes: 5 })).toEqual(all);
        } finally {
          rmSync(folder, { recursive: true });
        }
      },
    ),
    { numRuns: 25 },
  );
});

function plainSearch(content: string, pattern: string) {
  return content.split("\n").flatMap((full, line) => {
    const text = full.replace(/\r$/, "");
    const found = [];
    for (let at = text.indexOf(pattern); at !== -1; at = text.indexOf(pattern, at + pattern.length))
      found.push({ range: range(line, at, line, at + pattern.length), text });
    return found;
  });
}

test("many matches come in the same order, page by page, and the total is known at the end", async () => {
  for (let i = 0; i < 30; i++) put(`d${i % 7}/f${i}`, "x needle needle\n".repeat(50));
  const first = await search({ pattern: "needle", limit: 700 });
  expect(first).toMatchObject({ total: null, next: { many: true } });
  const all = await pagesOf({ pattern: "needle", limit: 700 });
  expect(all).toHaveLength(3_000);
  expect(all.slice(0, 700)).toEqual(first.matches);
  const places = all.map(({ uri, range: { start } }) => ({ uri, ...start }));
  const sorted = [...places].sort((a, b) => comparePaths(a.uri, b.uri) || a.line - b.line || a.col - b.col);
  expect(places).toEqual(sorted);
  expect(await pagesOf({ pattern: "needle", limit: 50, maxPerFile: 3 })).toHaveLength(90);
});

test("a page ends when its text is used up, but always holds one match", async () => {
  put("f", `${"x".repeat(99)}\n`.repeat(5));
  expect(await search({ pattern: "x+", maxBytes: 250 })).toMatchObject({ matches: { length: 2 }, total: 5 });
  expect(await search({ pattern: "x+", maxBytes: 1 })).toMatchObject({ matches: { length: 1 }, total: 5 });
});

test("several roots come one after the other, in their own order, and a root inside another comes once", async () => {
  for (const name of ["z/a", "a/b", "z/in/c"]) put(name, "needle");
  searchable = searchableOf(join(root, "z"), join(root, "a"), join(root, "z/in"));
  for (const limit of [1, 2, 10]) {
    const names = (await pagesOf({ pattern: "needle", limit })).map(({ uri }) => uri.slice(-3));
    expect(names).toEqual(["z/a", "n/c", "a/b"]);
  }
});

test("a file is searched when it is named, ignored or not, and a binary, a pipe or nothing is refused", async () => {
  execFileSync("git", ["init", "-q", root]);
  put(".gitignore", "*.log");
  put("a.log", "needle needle");
  put("b.bin", "needle\0needle");
  put("-", "needle");
  execFileSync("mkfifo", [join(root, "pipe")]);
  const path = (name: string) => join(root, name);
  expect(await pagesOf({ pattern: "needle", path: path("a.log"), limit: 1 })).toHaveLength(2);
  expect(await matchesOf({ pattern: "needle", path: path("-") })).toHaveLength(1);
  expect(await matchesOf({ pattern: "needle" })).toHaveLength(1);
  const code = (name: string) => search({ pattern: "needle", path: path(name) }).catch((error) => error.code);
  expect(await Promise.all(["b.bin", "pipe", "none"].map(code))).toEqual([
    "NOT_TEXT",
    "NOT_A_FILE",
    "NOT_FOUND",
  ]);
});

test("a file whose name is not UTF-8 is found, and its uri names it", async () => {
  writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.of(0xff)]), "needle");
  const [match] = await matchesOf({ pattern: "needle", limit: 1 });
  expect(match?.uri).toBe(`${pathToFileURL(root).href}/%FF`);
  expect(
    await matchesOf({ pattern: "needle", path: searchable.confinement.toPath(match?.uri ?? "") }),
  ).toHaveLength(1);
});

test("files that changed, disappeared or moved after ripgrep saw them are dropped, and the rest is returned", async () => {
  for (const name of ["changed", "gone", "kept", "linked"]) put(name, "a needle\n");
  const { ripgrep } = searchable;
  const meddle = () => {
    put("changed", "no longer\n");
    rmSync(join(root, "gone"));
    rmSync(join(root, "linked"));
    symlinkSync("kept", join(root, "linked"));
  };
  const meddling: Searchable = {
    ...searchable,
    ripgrep: {
      ...ripgrep,
      async *searchFolder(...args) {
        yield* ripgrep.searchFolder(...args);
        meddle();
      },
    },
  };
  const page = await searchText(meddling, { ...WIDE, pattern: "needle" }, { signal });
  expect(page.matches.map(({ uri }) => uri)).toEqual([pathToFileURL(join(root, "kept")).href]);
});

test("a line of 100 MB and a file that is too large to be hashed are searched in bounded memory", async () => {
  const LINE_BYTES = 100_000_000;
  const fd = openSync(join(root, "huge"), "w");
  ftruncateSync(fd, 0);
  const chunk = Buffer.alloc(1_000_000, "abcdéf ");
  for (let i = 0; i < LINE_BYTES / chunk.length; i++) writeSync(fd, chunk);
  writeSync(fd, "needle\nneedle", 50_000_000);
  closeSync(fd);
  const before = process.memoryUsage().rss;
  const [first, second] = await matchesOf({ pattern: "needle", context: 1 });
  expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
  const cols = Buffer.concat(Array(50).fill(chunk)).toString().length;
  expect(first).toMatchObject({ range: range(0, cols, 0, cols + 6), text_truncated: true, hash: null });
  expect(second).toMatchObject({ range: range(1, 0, 1, 6), text_truncated: true });
  expect(second?.text).toMatch(/^needle/);
});

test("a search that takes too long is a TIMEOUT, and one that is given up ends", async () => {
  for (let i = 0; i < 40; i++) put(`f${i}`, "needle and thread\n".repeat(20_000));
  const slow = { ...WIDE, pattern: "thread needle|nothing" };
  await expect(searchText(searchable, slow, { signal, timeoutMs: 1 })).rejects.toMatchObject({
    code: "TIMEOUT",
    details: { after_ms: 1 },
  });
  const giveUp = new AbortController();
  const search = searchText(searchable, slow, { signal: giveUp.signal });
  giveUp.abort();
  await expect(search).rejects.toMatchObject({ name: "AbortError" });
});
