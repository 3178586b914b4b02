import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCursors, createDispatcher, createRegistry } from "@octant/core";
import { createWatcher, createWorkspace, DEFAULT_SANDBOX } from "@octant/host";
import { type IndexOptions, ParserPool, SearchEngine } from "@octant/search";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseSymbolId } from "../code/position-input.ts";
import { createSourceFiles, search } from "./index.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-search-")));
const root = join(base, "project");
for (const name of ["src", "docs"]) mkdirSync(join(root, name), { recursive: true });
writeFileSync(
  join(root, "src/retry.ts"),
  "export function backoff(attempt: number) {\n  return 2 ** attempt;\n}\n",
);
writeFileSync(
  join(root, "src/client.ts"),
  'import { backoff } from "./retry.ts";\nexport const wait = () => backoff(3);\n',
);
writeFileSync(join(root, "docs/guide.md"), "How long to wait between attempts.\n");
writeFileSync(join(root, "src/50% #1.ts"), "export function halve(all: number) {\n  return all / 2;\n}\n");
writeFileSync(join(root, "picture.bin"), Buffer.of(0, 1, 2));
writeFileSync(join(root, "src/wide.ts"), Buffer.from("\uFEFFexport class WideThing {}\n", "utf16le"));
writeFileSync(join(root, "src/nul.ts"), "export class NulThing {}\n\0\n");
const LARGE = `export class LargeThing {}\n${"// filler\n".repeat(120_000)}`;
writeFileSync(join(root, "src/large.ts"), LARGE);

const env = { PATH: process.env["PATH"], HOME: base, XDG_STATE_HOME: join(base, "state") };
const workspace = createWorkspace({
  roots: [root],
  env,
  warn: () => {},
  sandbox: { ...DEFAULT_SANDBOX, mode: "off" },
});
const watcher = createWatcher(workspace);
const parsers = new ParserPool(1);
const engine = new SearchEngine({
  parsers,
  files: createSourceFiles(workspace, watcher),
  folder: workspace.state.folder("search"),
  log: () => {},
});
const callerOf = (asked: SearchEngine) => {
  const dispatch = createDispatcher({
    registry: createRegistry([search({ workspace, engine: asked })]),
    cursors: createCursors(new Uint8Array(32)),
    onBug: ({ cause }) => {
      throw cause;
    },
  });
  // biome-ignore lint/suspicious/noExplicitAny: the envelope of any action.
  return async (action: string, input: object = {}): Promise<any> => {
    const caller = { id: "me", access: "read" } as const;
    return (await dispatch({ tool: "search", action, input }, { caller })).envelope;
  };
};
const call = callerOf(engine);

beforeAll(async () => {
  await call("index");
});
afterAll(async () => {
  await engine.close();
  await parsers.close();
  await watcher.close();
  await workspace.close();
  rmSync(base, { recursive: true, force: true });
});

test("a definition is found by name, with its range, hash, snippet and symbol", async () => {
  const { data, meta } = await call("query", { query: "where is backoff defined?" });
  expect(data.index).toBe("fresh");
  expect(data.hits[0]).toMatchObject({
    uri: `file://${root}/src/retry.ts`,
    range: { start: { line: 0 } },
    hash: expect.stringMatching(/^sha256:/),
    snippet: expect.stringContaining("2 ** attempt"),
    symbol_id: "sym:src/retry.ts#backoff",
    kind: "function",
  });
  expect(meta.backend).toBe("symbol");
});

test("callers, structures and paths are found, and a scope narrows all of them", async () => {
  const first = async (input: object) => (await call("query", input)).data.hits[0]?.uri;
  expect(await first({ query: "who calls backoff" })).toBe(`file://${root}/src/client.ts`);
  expect(await first({ query: "2 ** $N", modality: "ast" })).toBe(`file://${root}/src/retry.ts`);
  expect(await first({ query: "guide.md" })).toBe(`file://${root}/docs/guide.md`);
  expect(await first({ query: "backoff", modality: "text", scope: "docs" })).toBeUndefined();
});

test("hits are paged without duplicates, in the same order for every page size", async () => {
  const asked = { query: "attempt", modality: "text" };
  const whole = (await call("query", asked)).data.hits;
  expect(whole.length).toBeGreaterThan(1);
  const paged: unknown[] = [];
  let cursor: string | null = null;
  do {
    const { data, meta } = await call("query", { ...asked, limit: 1, ...(cursor && { cursor }) });
    expect(data.hits).toHaveLength(1);
    paged.push(...data.hits);
    cursor = meta.paging.cursor;
  } while (cursor);
  expect(paged).toEqual(whole);
});

test("changes between two pages do not affect the list", async () => {
  const asked = { query: "attempt", modality: "text", limit: 1 };
  const { meta } = await call("query", asked);
  const next = async () => (await call("query", { ...asked, cursor: meta.paging.cursor })).data.hits[0].uri;
  const before = await next();
  const added = join(root, "docs/attempt.md");
  writeFileSync(added, "attempt attempt attempt\n");
  await call("index");
  expect(await next()).toBe(before);
  rmSync(added);
  await call("index");
});

test("a symbol id leads to its file, whatever the file is called", async () => {
  const { hits } = (await call("query", { query: "where is halve defined?" })).data;
  expect(hits).toMatchObject([{ symbol_id: "sym:src/50%25%20%231.ts#halve" }]);
  expect(parseSymbolId(workspace.confinement, hits[0].symbol_id)).toEqual({
    path: join(root, "src/50% #1.ts"),
    symbol: "halve",
  });
});

test("without time to index anything, a sentence is answered with the lines that have its words", async () => {
  class Hurried extends SearchEngine {
    override index({ progress }: IndexOptions) {
      progress?.({ progress: 0, total: 7_000 });
      return new Promise<never>(() => {});
    }
    override indexFirst(paths: readonly string[]) {
      return super.indexFirst(paths, AbortSignal.abort());
    }
  }
  const hurried = new Hurried({
    parsers,
    files: createSourceFiles(workspace, watcher),
    folder: workspace.state.folder("hurried"),
    log: () => {},
  });
  try {
    const asked = { query: "how long do we wait between attempts" };
    const { data, meta } = await callerOf(hurried)("query", asked);
    expect(data.hits[0]).toMatchObject({
      uri: `file://${root}/docs/guide.md`,
      snippet: "How long to wait between attempts.\n",
      why: [{ strategy: "scan", rank: 1 }],
    });
    expect(meta.backend).toBe("scan");
    expect(data.index).not.toBe("fresh");
    const within = await callerOf(hurried)("query", { ...asked, scope: "src" });
    expect(within.data.hits.map(({ uri }: { uri: string }) => uri)).not.toContain(data.hits[0].uri);
  } finally {
    await hurried.close();
  }
});

test("a cursor of another query is refused", async () => {
  const { meta } = await call("query", { query: "attempt", modality: "text", limit: 1 });
  const { error } = await call("query", { query: "wait", modality: "text", cursor: meta.paging.cursor });
  expect(error.code).toBe("INVALID_CURSOR");
});

test("binary files are not indexed, and status counts the indexed files", async () => {
  await call("index");
  expect((await call("status")).data).toMatchObject({ state: "fresh", files: 6 });
});

test("a scope outside the workspace and an unavailable modality are typed errors", async () => {
  expect((await call("query", { query: "x", scope: "/etc" })).error.code).toBe("OUTSIDE_WORKSPACE");
  expect((await call("query", { query: "x", modality: "memory" })).error.code).toBe("UNSUPPORTED");
});

test.each(["WideThing", "LargeThing"])(
  "%s, which no parser has seen, is not reported as missing",
  async (name) => {
    await call("index");
    const { data } = await call("query", { query: `where is ${name} defined?` });
    expect(data.unmet ?? "").not.toContain("nothing here is named");
    const { data: other } = await call("query", { query: "where is NowhereThing defined?" });
    expect(other.unmet).toBe("nothing here is named 'NowhereThing'");
  },
);

test("a definition beside a NUL is found", async () => {
  const { data } = await call("query", { query: "where is NulThing defined?" });
  expect(data.hits[0]).toMatchObject({ symbol_id: "sym:src/nul.ts#NulThing" });
});

test("an index run counts only files that have changed", async () => {
  await call("index");
  expect((await call("index")).data.read).toBe(0);
});
