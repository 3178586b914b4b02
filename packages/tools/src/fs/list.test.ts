import { execFileSync } from "node:child_process";
import { chmodSync, linkSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ANSWER_BYTES } from "@octant/core";
import { comparePaths, uriToPath } from "@octant/host";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createReadingFixture, type ReadingFixture } from "../../testing/fs/reading-fixture.ts";

/** The number of random trees. */
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 15);

let at: ReadingFixture;

beforeEach(() => {
  at = createReadingFixture();
});
afterEach(() => at[Symbol.dispose]());

type Input = Parameters<ReadingFixture["fs"]["list"]>[0];

const toName = (uri: string) => uriToPath(uri, "/").slice(at.root.length + 1);
const names = async (input: Input) => (await at.fs.list(input)).entries.map(({ uri }) => toName(uri));

/** All pages in turn; `between` runs after each. */
async function pages(input: Input, between: (page: string[]) => void = () => {}): Promise<string[][]> {
  const all: string[][] = [];
  let cursor: string | null | undefined;
  do {
    const { envelope } = await at.call("list", { ...input, ...(cursor && { cursor }) });
    if (!envelope.ok) throw new Error(envelope.error.message);
    const { entries } = envelope.data as { entries: { uri: string }[] };
    const page = entries.map(({ uri }) => toName(uri));
    all.push(page);
    between(page);
    cursor = envelope.meta.paging.cursor;
  } while (cursor);
  return all;
}

test("a folder's own entries are listed with kind, size and time", async () => {
  utimesSync(at.put("b.txt", "four"), 1e9, 1e9);
  at.put("a/deep.txt", "");
  const { entries } = await at.fs.list({});
  expect(entries).toEqual([
    { uri: `file://${at.root}/a`, kind: "directory", size: expect.any(Number), mtime: expect.any(String) },
    { uri: `file://${at.root}/b.txt`, kind: "file", size: 4, mtime: "2001-09-09T01:46:40.000Z" },
  ]);
});

test("depth limits the levels, and a folder's contents follow it", async () => {
  for (const path of ["a/b/c/d", "a.x", "a-x", "a/z"]) at.put(path, "");
  expect(await names({ depth: 2 })).toEqual(["a", "a/b", "a/z", "a-x", "a.x"]);
  expect(await names({ uri: "a", depth: 3 })).toEqual(["a/b", "a/b/c", "a/b/c/d", "a/z"]);
});

test("all kinds are listed, links are not followed, and kind filters", async () => {
  at.put("folder/inner", "");
  symlinkSync("folder", join(at.root, "link"));
  symlinkSync("/etc", join(at.root, "out"));
  execFileSync("mkfifo", [join(at.root, "pipe")]);
  const { entries } = await at.fs.list({ depth: 5 });
  expect(entries.map(({ uri, kind }) => `${toName(uri)} ${kind}`)).toEqual([
    "folder directory",
    "folder/inner file",
    "link symlink",
    "out symlink",
    "pipe fifo",
  ]);
  expect(await names({ depth: 5, kind: "symlink" })).toEqual(["link", "out"]);
  expect(await names({ depth: 5, kind: "file" })).toEqual(["folder/inner"]);
});

test("a pattern applies at all depths: without a slash to names, with one to paths from the folder", async () => {
  for (const path of ["a.ts", "src/b.ts", "src/lib/c.ts", "src/lib/d.js", "other/src/e.ts"]) at.put(path, "");
  expect(await names({ pattern: "*.ts" })).toEqual(["a.ts", "other/src/e.ts", "src/b.ts", "src/lib/c.ts"]);
  expect(await names({ pattern: "src/**/*.ts" })).toEqual(["src/b.ts", "src/lib/c.ts"]);
  expect(await names({ uri: "src", pattern: "lib/*.{ts,js}" })).toEqual(["src/lib/c.ts", "src/lib/d.js"]);
  expect(await names({ pattern: "*.ts", depth: 1 })).toEqual(["a.ts"]);
  expect(await names({ pattern: "lib/" })).toEqual(["src/lib"]);
  expect(await names({ pattern: "!src", kind: "file" })).toEqual(["a.ts"]);
  expect(await at.failure("list", { pattern: "a{b" })).toBe("INVALID_ARGUMENT");
});

test("a pattern does not list ignored files", async () => {
  mkdirSync(join(at.root, ".git"));
  at.put(".gitignore", "out.ts\n");
  at.put("out.ts", "");
  at.put("in.ts", "");
  expect(await names({ pattern: "*.ts" })).toEqual(["in.ts"]);
});

test("dotfiles are listed; .git and ignored files only on request, and .git is never entered", async () => {
  at.put(".git/HEAD", "");
  at.put(".gitignore", "dist\n");
  at.put("dist/a", "");
  at.put(".github/ci.yml", "");
  expect(await names({ depth: 9 })).toEqual([".github", ".github/ci.yml", ".gitignore"]);
  expect(await names({ depth: 9, include_ignored: true })).toEqual([
    ".git",
    ".github",
    ".github/ci.yml",
    ".gitignore",
    "dist",
    "dist/a",
  ]);
});

test("names with arbitrary bytes have uris that find them", async () => {
  const raw = [Buffer.from("a\nb"), Buffer.of(0xff, 0x41), Buffer.from("100% #?"), Buffer.from("é😀")];
  for (const name of raw) writeFileSync(Buffer.concat([Buffer.from(`${at.root}/`), name]), name);
  const { entries } = await at.fs.list({});
  const contents = await Promise.all(entries.map(({ uri }) => at.fs.read({ uri, encoding: "base64" })));
  const found = contents.map(({ base64 }) => base64);
  expect(found.sort()).toEqual(raw.map((name) => name.toString("base64")).sort());
});

test("a path that is not a folder, is missing or outside is refused", async () => {
  at.put("file", "");
  symlinkSync("/etc", join(at.root, "out"));
  expect(await at.failure("list", { uri: "file" })).toBe("NOT_A_DIRECTORY");
  expect(await at.failure("list", { uri: "nothing" })).toBe("NOT_FOUND");
  expect(await at.failure("list", { uri: "out" })).toBe("OUTSIDE_WORKSPACE");
  expect(await at.failure("list", { uri: "../" })).toBe("OUTSIDE_WORKSPACE");
});

test.skipIf(process.getuid?.() === 0)(
  "a folder that cannot be looked into is counted and passed over",
  async () => {
    at.put("shut/in", "");
    at.put("z", "");
    chmodSync(join(at.root, "shut"), 0);
    expect(await at.fs.list({ depth: 3 })).toMatchObject({ entries: [{}, {}], unreadable: 1 });
    chmodSync(join(at.root, "shut"), 0o755);
  },
);

describe("paging", () => {
  test("pages of any size return all entries once, in the order of comparePaths", async () => {
    const name = fc.constantFrom("a", "b", "a.b", "a-b", "ä", "Z", "0");
    const tree = fc.array(fc.array(name, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(tree, fc.integer({ min: 1, max: 7 }), async (paths, limit) => {
        rmSync(at.root, { recursive: true });
        for (const path of paths) mkdirSync(join(at.root, ...path), { recursive: true });
        const whole = (await pages({ depth: 9, limit: 10_000 })).flat();
        expect([...whole].sort(comparePaths)).toEqual(whole);
        const parts = await pages({ depth: 9, limit });
        expect(parts.flat()).toEqual(whole);
        expect(parts.slice(0, -1).every((page) => page.length === limit)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  test("long names make shorter pages, so that an answer stays within its budget", async () => {
    const folder = Array(12).fill("f".repeat(240)).join("/");
    const files = Array.from({ length: 30 }, (_, at) => `${folder}/${String(at).padStart(240, "0")}`);
    for (const file of files) at.put(file, "");
    const parts = await pages({ kind: "file", depth: 20 });
    expect(parts.flat()).toEqual(files);
    for (const page of parts) expect(page.join("").length).toBeLessThanOrEqual(ANSWER_BYTES + folder.length);
    expect((await pages({ kind: "file", depth: 20, limit: 10_000 })).length).toBe(1);
  });

  test("entries created and removed between pages disturb nothing else", async () => {
    for (const path of ["a/1", "a/2", "b/1", "b/2", "c"]) at.put(path, "");
    let page = 0;
    const all = await pages({ depth: 9, limit: 2 }, () => {
      page++;
      // Removes the last entry of the page with its folder; adds one entry before it and one after.
      if (page === 1) rmSync(join(at.root, "a"), { recursive: true });
      if (page === 1) at.put("a0", "");
      if (page === 1) at.put("Z", "");
    });
    expect(all.flat()).toEqual(["a", "a/1", "a0", "b", "b/1", "b/2", "c"]);
  });

  test("a cursor of another query is refused", async () => {
    for (const path of ["a", "b", "c"]) at.put(path, "");
    const { envelope } = await at.call("list", { limit: 1 });
    const { cursor } = envelope.meta.paging;
    expect(await at.failure("list", { limit: 1, cursor, depth: 2 })).toBe("INVALID_CURSOR");
    expect(await at.failure("list", { limit: 2, cursor })).toBe("none");
  });

  test("a huge folder comes in pages without duplicates, and other calls are served meanwhile", async () => {
    // The full number in `npm run torture`.
    const COUNT = process.env["FUZZ_RUNS"] ? 100_000 : 30_000;
    // Hard links are faster to create than files; a file system allows some 65,000 to one.
    const targets = [at.put("even", ""), at.put("odd", "")] as const;
    mkdirSync(join(at.root, "big"));
    for (let i = 0; i < COUNT; i++) linkSync(targets[i % 2] as string, join(at.root, "big", `entry-${i}`));
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const all = (await pages({ uri: "big", limit: 10_000 })).flat();
    clearInterval(timer);
    expect([all.length, new Set(all).size]).toEqual([COUNT, COUNT]);
    expect(turns).toBeGreaterThan(COUNT / 5_000);
  });

  test("a tree 1,000 levels deep is walked", async () => {
    mkdirSync(join(at.root, ...Array<string>(1_000).fill("d")), { recursive: true });
    expect(await names({ depth: 1_000, limit: 10_000 })).toHaveLength(1_000);
  });

  test("a cancelled walk ends", async () => {
    execFileSync("bash", ["-c", "mkdir -p {a..z}/{a..z}/{a..c}"], { cwd: at.root });
    const abort = new AbortController();
    const listing = at.call("list", { pattern: "*nothing*" }, { signal: abort.signal });
    setImmediate(() => abort.abort());
    expect((await listing).envelope.error?.code).toBe("CANCELLED");
  });
});
