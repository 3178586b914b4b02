import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCursors, createDispatcher, createRegistry, defineTool, type Envelope } from "@octant/core";
import { createConfinement, createRipgrep } from "@octant/host";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { z } from "zod";
import { search_text } from "./search-text.ts";

type Data = z.output<ReturnType<typeof search_text>["output"]>;

let root: string;
let bugs: unknown[];
let call: (input: Record<string, unknown>, signal?: AbortSignal) => Promise<Envelope<Data>>;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "octant-search-text-")));
  mkdirSync(join(root, "src/util"), { recursive: true });
  writeFileSync(join(root, "README.md"), "# Demo\n\nA small project.\n");
  writeFileSync(join(root, "src/main.ts"), "export const answer = 42;\n");
  writeFileSync(join(root, "src/util/add.ts"), "export const add = (a: number, b: number) => a + b;\n");
  const confinement = createConfinement([root]);
  const workspace = { confinement, ripgrep: createRipgrep({ confinement }) };
  const fs = defineTool({
    name: "fs",
    summary: "Files.",
    actions: { search_text: search_text(workspace) },
  });
  bugs = [];
  const dispatch = createDispatcher({
    registry: createRegistry([fs]),
    cursors: createCursors(Buffer.alloc(32, 7)),
    onBug: ({ cause }) => bugs.push(cause),
  });
  const caller = { id: "test", access: "read" } as const;
  call = async (input, signal) => {
    const { envelope } = await dispatch({ tool: "fs", action: "search_text", input }, { caller, signal });
    // The dispatcher has validated the data against the action's output schema.
    return envelope as Envelope<Data>;
  };
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
  expect(bugs).toEqual([]);
});

test("a search returns matches, their count, and the backend", async () => {
  expect(await call({ pattern: "answer" })).toMatchObject({
    ok: true,
    data: {
      matches: [
        {
          uri: `file://${root}/src/main.ts`,
          range: { start: { line: 0, col: 13 }, end: { line: 0, col: 19 } },
          text: "export const answer = 42;",
          hash: expect.stringMatching(/^sha256:/),
        },
      ],
      count: 1,
      total: 1,
    },
    meta: { backend: "ripgrep", paging: { cursor: null, more: false } },
  });
});

test("cursors lead through all pages, and are invalid for another search", async () => {
  writeFileSync(join(root, "many.txt"), "a word and a word\n".repeat(10));
  const whole = await call({ pattern: "word", limit: 1_000 });
  const seen: unknown[] = [];
  let cursor: string | null | undefined;
  do {
    const page: Envelope<Data> = await call({ pattern: "word", limit: 3, ...(cursor && { cursor }) });
    expect(page.data?.total).toBe(20);
    seen.push(...(page.data?.matches ?? []));
    const other = { pattern: "a", cursor: page.meta.paging.cursor };
    if (other.cursor) expect(await call(other)).toMatchObject({ error: { code: "INVALID_CURSOR" } });
    cursor = page.meta.paging.cursor;
  } while (cursor);
  expect(seen).toEqual(whole.data?.matches);
});

test("path, glob and context narrow and widen the result", async () => {
  const uris = async (input: Record<string, unknown>) =>
    (await call({ pattern: "export", ...input })).data?.matches.map(({ uri }) => uri.slice(root.length + 8));
  expect(await uris({})).toEqual(["src/main.ts", "src/util/add.ts"]);
  expect(await uris({ path: "src/util" })).toEqual(["src/util/add.ts"]);
  expect(await uris({ path: `file://${root}/src/main.ts` })).toEqual(["src/main.ts"]);
  expect(await uris({ glob: "add.*" })).toEqual(["src/util/add.ts"]);
  expect(await uris({ glob: ["*.ts", "!util"] })).toEqual(["src/main.ts"]);
  const shown = await call({ pattern: "small", context: 2 });
  expect(shown.data?.matches[0]).toMatchObject({ before: ["# Demo", ""], after: [] });
});

test("a ref cannot be searched, and the answer names the action that reads it", async () => {
  const { error } = await call({ pattern: "x", path: `blob:sha256:${"0".repeat(64)}` });
  expect(error).toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringContaining("fs.read"),
  });
});

test("an answer stays within its text budget, and max_bytes raises it", async () => {
  writeFileSync(join(root, "wide.txt"), `${"x".repeat(400)}\n`.repeat(200));
  const page = await call({ pattern: "x+", path: "wide.txt", limit: 200 });
  expect(page.data?.count).toBe(81);
  expect(page).toMatchObject({ data: { total: 200 }, meta: { paging: { more: true } } });
  expect((await call({ pattern: "x+", path: "wide.txt", limit: 200, max_bytes: 100_000 })).data?.count).toBe(
    200,
  );
});

test.each([
  [{ pattern: "(" }, "INVALID_ARGUMENT"],
  [{ pattern: "" }, "INVALID_ARGUMENT"],
  [{ pattern: "a\0" }, "INVALID_ARGUMENT"],
  [{ pattern: "a", glob: "[" }, "INVALID_ARGUMENT"],
  [{ pattern: "a", glob: "--pre=x\0" }, "INVALID_ARGUMENT"],
  [{ pattern: "a", context: 21 }, "INVALID_ARGUMENT"],
  [{ pattern: "a", path: "../.." }, "OUTSIDE_WORKSPACE"],
  [{ pattern: "a", path: "/etc" }, "OUTSIDE_WORKSPACE"],
  [{ pattern: "a", path: "--pre=touch" }, "NOT_FOUND"],
  [{ pattern: "a", path: "$(touch x)" }, "NOT_FOUND"],
  [{ pattern: "a", path: "pipe" }, "NOT_A_FILE"],
  [{ pattern: "a", cursor: "bad" }, "INVALID_CURSOR"],
])("%j is refused with %s, and the message names no place outside", async (input, code) => {
  execFileSync("mkfifo", [join(root, "pipe")]);
  const { error } = await call(input);
  expect(error).toMatchObject({ code });
  expect(error?.message).not.toMatch(/node_modules|\/proc/);
});

test("an aborted call is CANCELLED", async () => {
  const giveUp = new AbortController();
  const pending = call({ pattern: "export" }, giveUp.signal);
  giveUp.abort();
  expect(await pending).toMatchObject({ error: { code: "CANCELLED" } });
});
