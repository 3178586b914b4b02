import type { Reader } from "@octant/core";
import { expect, test } from "vitest";
import type { QueryOutput } from "./query.ts";
import { queryText } from "./text.ts";

const reader: Reader = { path: (uri) => uri, backend: undefined, envelope: () => "" };
const notesOf = (index: QueryOutput["index"], total_files: number | null) =>
  queryText({ hits: [], index, indexed_files: 120, total_files }, reader).notes?.filter(Boolean);

test("an answer from an unfinished index says how many of the files are indexed", () => {
  expect(notesOf("indexing", 13_000)).toEqual([
    expect.stringContaining("the index is being built (120 of 13000 files)"),
  ]);
  expect(notesOf("empty", null)).toEqual([expect.stringContaining("(120 files)")]);
  expect(notesOf("fresh", 13_000)).toEqual([]);
});
