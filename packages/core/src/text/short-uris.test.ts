import { expect, test } from "vitest";
import { z } from "zod";
import { Uri } from "../ids.ts";
import { createRegistry } from "../registry.ts";
import { action, defineTool } from "../tool.ts";
import { createShorten } from "./short-uris.ts";

const Row = z.object({ uri: Uri.optional(), kind: z.string() });
const tool = defineTool({
  name: "finder",
  summary: "Finds.",
  actions: {
    find: action({
      summary: "Find.",
      access: "read",
      timing: "sync",
      intent: "inspect",
      input: z.strictObject({}),
      output: z.object({
        uri: Uri,
        rows: z.array(Row).readonly().optional(),
        said: z.array(z.unknown()),
        counts: z.array(z.object({ count: z.int() })).optional(),
      }),
      examples: [{ title: "All", input: {} }],
      run: () => ({ uri: "file:///", said: [] }),
    }),
  },
});
const meta = { tool: "finder", action: "find", trace_id: "t", paging: { cursor: null, more: false } };
const shortenIn = (roots: readonly string[], data: unknown) =>
  createShorten(createRegistry([tool]), roots)({ ok: true, data, error: null, meta });
const shorten = (data: unknown) => shortenIn(["file:///work", "file:///other"], data);
const rowsOf = (uris: readonly string[]) => uris.map((uri) => ({ uri, kind: "file" }));

test("rows of a list name files from the base, and everything else keeps its uri", () => {
  const given = {
    uri: "file:///work/a",
    rows: rowsOf(["file:///work/src/a.ts"]),
    said: rowsOf(["file:///work/a"]),
  };
  const { data, meta: about } = shorten(given);
  expect(data).toEqual({ ...given, rows: rowsOf(["src/a.ts"]) });
  expect(about).toEqual({ ...meta, base: "file:///work/" });
});

test("as a reference relative to the base, each is the uri that it was", () => {
  const names = [
    "a/b.ts",
    "a%20b",
    "x:y",
    "a/x:y",
    "~",
    "~/a",
    "a~",
    "c'(1)",
    ".hidden",
    "100%25",
    "%C3%BC",
    "*",
    "@x",
  ];
  const uris = ["file:///work", "file:///work/", "file:///works/a", "file:///other/a", "memory:mem_1"].concat(
    names.map((name) => `file:///work/${name}`),
  );
  const { data, meta: about } = shorten({ uri: "file:///work", rows: rowsOf(uris), said: [] });
  const { rows } = data as { rows: { uri: string }[] };
  expect(rows.map(({ uri }) => new URL(uri, about.base).href)).toEqual(uris.map((uri) => new URL(uri).href));
  expect(rows.map(({ uri }) => uri).filter((uri) => !uri.includes(":"))).toEqual([
    ...["a/b.ts", "a~", "c'(1)", ".hidden", "*", "@x"],
  ]);
});

test("answers without such a list stay as they are", () => {
  for (const data of [{ uri: "file:///work/a", said: [] }, null, "text"])
    expect(shorten(data).meta).toBe(meta);
  expect(shortenIn([], { rows: rowsOf(["file:///a"]) }).meta).toBe(meta);
  const error = { code: "NOT_FOUND", message: "no", details: {} } as const;
  const failure = { ok: false, data: null, error, meta } as const;
  expect(createShorten(createRegistry([tool]), ["file:///work"])(failure)).toBe(failure);
});
