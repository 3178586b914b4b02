import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test as testAnywhere } from "vitest";
import { createConfinement } from "../../confinement.ts";
import { createRipgrep, type Ripgrep, type TextPattern } from "../ripgrep.ts";
import { createIndexedRipgrep, type IndexedRipgrep } from "./indexed-ripgrep.ts";
import { keepsStamps } from "./tree-state.ts";
import { createTrigramCalls, type TrigramThread } from "./trigram-thread.ts";

/** Other file systems have no index to test. */
const test = testAnywhere.skipIf(!keepsStamps(tmpdir()));

const { signal } = new AbortController();

let base: string;
let root: string;
let plain: Ripgrep;
let indexed: IndexedRipgrep;
/** The places that ripgrep was sent to by the index. */
let sent: { readonly files: readonly string[]; readonly folders: readonly string[] }[];

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-trigrams-")));
  open();
});
afterEach(async () => {
  await indexed.close();
  rmSync(base, { recursive: true, force: true });
});

function open(): void {
  root = mkdtempSync(join(base, "ws-"));
  const confinement = createConfinement([root]);
  const env = { HOME: base };
  plain = createRipgrep({ confinement, env });
  sent = [];
  const ripgrep: Ripgrep = {
    ...plain,
    searchPlaces(folder, pattern, places, options) {
      sent.push(places);
      return plain.searchPlaces(folder, pattern, places, options);
    },
  };
  indexed = createIndexedRipgrep({ ripgrep, confinement, env, minFiles: 0, startThread: startHere });
}

/** The work of a thread, without the time to start one. */
function startHere(): TrigramThread {
  const calls = createTrigramCalls();
  return {
    // Each name has its own arguments; the union of all cannot express that.
    call: async (name, ...args) => (calls[name] as (...args: unknown[]) => never)(...args),
    close: async () => {},
  };
}

const put = (name: string, content: string | Buffer) => {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), content);
};

/** Everything that is found, file by file. */
async function found(ripgrep: Ripgrep, pattern: TextPattern, folder = root): Promise<string[]> {
  const files: string[] = [];
  try {
    for await (const messages of ripgrep.searchFolder(folder, pattern, { order: "any", signal }))
      for (const message of messages) {
        if (message.kind === "begin") files.push(message.path);
        if (message.kind === "match") files[files.length - 1] += `\n${message.json}`.replaceAll('"./', '"');
      }
  } catch (cause) {
    return [String(cause)];
  }
  return files.map((file) => file.replace(/"path":\{[^}]*\},/g, "")).sort();
}

/** Until a file that was just written has a stamp of the past. */
const settle = () => sleep(150);

const indexAll = async () => {
  await settle();
  await indexed.index();
};

test("a rare text is searched only in the files that can contain it", async () => {
  for (let n = 0; n < 50; n++) put(`src/${n}.ts`, `export const value${n} = ${n};\n`);
  put("src/rare.ts", "const Needle_in_the_hay = 1;\n");
  await indexAll();
  expect(indexed.indexedFiles()).toBe(51);
  expect(await found(indexed, { pattern: "needle_in" })).toHaveLength(1);
  expect(sent).toEqual([{ files: [join(root, "src/rare.ts")], folders: [] }]);
  expect(await found(indexed, { pattern: "nowhere_at_all" })).toEqual([]);
  expect(sent[1]).toEqual({ files: [], folders: [] });
  expect(await found(indexed, { pattern: "nowhere(" })).toEqual([expect.stringContaining("unclosed group")]);
});

test("the index is in memory only: no file holds what it knows of a file", async () => {
  put("src/a.txt", "needle\n");
  const before = readdirSync(base, { recursive: true });
  await indexAll();
  expect(await found(indexed, { pattern: "needle" })).toHaveLength(1);
  expect(sent).toHaveLength(1);
  expect(readdirSync(base, { recursive: true })).toEqual(before);
});

test.each<readonly [string, () => void]>([
  ["a file written again with the same size", () => put("src/a.txt", "needle\n")],
  [
    "a file with its old time",
    () => {
      const { atime, mtime } = statSync(join(root, "src/a.txt"));
      put("src/a.txt", "needle\n");
      utimesSync(join(root, "src/a.txt"), atime, mtime);
    },
  ],
  [
    "a file that another one replaces",
    () => {
      put("other", "needle\n");
      renameSync(join(root, "other"), join(root, "src/a.txt"));
    },
  ],
  ["a new file", () => put("src/new.txt", "needle\n")],
  ["a new file in a folder that was empty", () => put("empty/new.txt", "needle\n")],
  ["a new file in a new folder", () => put("new/folder/new.txt", "needle\n")],
  [
    "a folder that was moved in",
    () => {
      mkdirSync(join(base, "outside"));
      writeFileSync(join(base, "outside/a.txt"), "needle\n");
      renameSync(join(base, "outside"), join(root, "inside"));
    },
  ],
  ["a file that is not ignored any more", () => put(".ignore", "other\n")],
  ["a file that an ignore file above the root no longer ignores", () => rmSync(join(base, ".ignore"))],
  ["a file that became text", () => put("src/binary", "needle\n")],
])("at once found: %s", async (_name, change) => {
  put("src/a.txt", "nothing\n");
  put("src/b.txt", "nothing\n");
  put("src/binary", Buffer.from("\0\0needle"));
  put(".ignore", "ignored\n");
  put("ignored", "needle\n");
  put("above", "needle\n");
  writeFileSync(join(base, ".ignore"), "above\n");
  mkdirSync(join(root, "empty"));
  await indexAll();
  expect(await found(indexed, { pattern: "needle" })).toEqual([]);
  expect(sent).toHaveLength(1);
  change();
  const now = await found(indexed, { pattern: "needle" });
  expect(now).toHaveLength(1);
  expect(now).toEqual(await found(plain, { pattern: "needle" }));
});

test("letters that are s or k in another case are found", async () => {
  put("a.txt", "claſs \u212Aey\n");
  for (let n = 0; n < 20; n++) put(`${n}.txt`, "other\n");
  await indexAll();
  for (const pattern of ["class", "key"]) expect(await found(indexed, { pattern })).toHaveLength(1);
  expect(sent).toHaveLength(2);
});

test("the second search starts the index, and ripgrep answers until it is there", async () => {
  for (let n = 0; n < 20; n++) put(`${n}.txt`, "other\n");
  put("a.txt", "needle\n");
  for (let n = 0; n < 3; n++) expect(await found(indexed, { pattern: "needle" })).toHaveLength(1);
  await expect.poll(() => indexed.indexedFiles()).toBe(21);
});

const WORDS = ["needle", "Needle", "hay", "stack", "ſtack", "café", "x", "foo_bar", "end"];
const PATHS = [
  "a.txt",
  "b.log",
  "src/a.txt",
  "src/c.md",
  "src/deep/d.txt",
  "build/e.txt",
  ".hidden/f",
  "z/y/x/g",
];

const text = fc
  .array(fc.constantFrom(...WORDS, " ", "\n", "\r\n", "(", "."), { maxLength: 12 })
  .map((parts) => parts.join(""));
const content = fc.oneof(
  { weight: 6, arbitrary: text.map((it) => Buffer.from(it)) },
  text.map((it) => Buffer.from(`\ufeff${it}`, "utf16le")),
  text.map((it) => Buffer.from(`${it}\0${it}`)),
  text.map((it) => Buffer.concat([Buffer.of(0xff, 0xc3), Buffer.from(it)])),
);
const path = fc.constantFrom(...PATHS);
const change = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(path, content).map(
      ([at, it]) =>
        () =>
          put(at, it),
    ),
  },
  fc.tuple(path, text).map(
    ([at, it]) =>
      () =>
        tolerate(() => appendFileSync(join(root, at), it)),
  ),
  path.map((at) => () => rmSync(join(root, at), { force: true })),
  fc
    .constantFrom("src", "src/deep", "build", "z/y")
    .map((at) => () => rmSync(join(root, at), { recursive: true, force: true })),
  fc.tuple(path, path).map(
    ([from, to]) =>
      () =>
        tolerate(() => renameSync(join(root, from), join(root, to))),
  ),
  path.map((at) => () => tolerate(() => chmodSync(join(root, at), 0o600))),
  path.map((at) => () => tolerate(() => symlinkSync("a.txt", join(root, `${at}.link`)))),
  fc
    .constantFrom(".gitignore", ".ignore", "src/.rgignore", ".git/info/exclude")
    .chain((name) =>
      fc.constantFrom("build/\n", "*.log\n", "src/*\n!src/deep\n", "").map((rules) => () => put(name, rules)),
    ),
);
const pattern: fc.Arbitrary<TextPattern> = fc.record({
  pattern: fc.oneof(
    fc.constantFrom(...WORDS),
    fc
      .array(fc.constantFrom(...WORDS, ".", "\\s+", "(a|needle)", "[x-z]?", "\\(", "|", "+", "*", "$", "^"), {
        minLength: 1,
        maxLength: 4,
      })
      .map((parts) => parts.join("")),
  ),
  fixed: fc.boolean(),
  case: fc.constantFrom("smart", "sensitive", "insensitive"),
  word: fc.boolean(),
});
const step = fc.record({
  changes: fc.array(change, { maxLength: 3 }),
  pattern,
  folder: fc.constantFrom("", "", "src"),
  refresh: fc.boolean(),
});

test("whatever changes, random patterns are found exactly where ripgrep alone finds them", async () => {
  let narrowed = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(path, content), { maxLength: 8 }),
      fc.array(step, { maxLength: 6 }),
      async (files, steps) => {
        await indexed.close();
        open();
        for (const [at, it] of files) put(at, it);
        await indexAll();
        for (const { changes, pattern: asked, folder, refresh } of steps) {
          for (const make of changes) make();
          mkdirSync(join(root, folder), { recursive: true });
          const where = join(root, folder);
          expect(await found(indexed, asked, where)).toEqual(await found(plain, asked, where));
          if (refresh) await indexed.index();
        }
        narrowed += sent.length;
      },
    ),
    { numRuns: Number(process.env["FUZZ_RUNS"] ?? 10), seed: Number(process.env["TRIGRAM_SEED"] ?? 7) },
  );
  expect(narrowed).toBeGreaterThan(5);
}, 300_000);

const tolerate = (work: () => void) => {
  try {
    work();
  } catch {
    // The file is not there, or already is.
  }
};
