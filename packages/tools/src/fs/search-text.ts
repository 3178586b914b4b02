import { ANSWER_BYTES, action, MAX_ANSWER_BYTES, ofKind, pagingInput, Uri } from "@octant/core";
import {
  MAX_SEARCH_MS,
  pathToUri,
  resolveUri,
  type Searchable,
  searchText,
  TextMatch,
  TextSearchPosition,
} from "@octant/host";
import { z } from "zod";
import { INSPECT_SHORT } from "../kinds.ts";
import { notSearched, notSearchedNotes, toNotSearched } from "../searched.ts";

// Far below the system's limit of 128 KiB for one process argument.
const MAX_PATTERN_CHARS = 16_384;
const MAX_GLOB_CHARS = 4_096;
const MAX_GLOBS = 100;

const Glob = z.string().min(1).max(MAX_GLOB_CHARS);

export const search_text = (workspace: Searchable) =>
  action({
    summary: "Search files for text or a regular expression, skipping ignored files.",
    ...INSPECT_SHORT,
    leavesOut: true,
    input: z.strictObject({
      pattern: z.string().min(1).max(MAX_PATTERN_CHARS).describe("Rust regex"),
      path: ofKind("tree", Uri.optional().describe("Folder or file; default all roots")),
      fixed: z.boolean().default(false).describe("Plain text"),
      case: z
        .enum(["smart", "sensitive", "insensitive"])
        .default("smart")
        .describe("Default smart; sensitive if the pattern has capitals"),
      word: z.boolean().default(false).describe("Whole words only"),
      glob: z
        .union([Glob, z.array(Glob).max(MAX_GLOBS)])
        .optional()
        .describe("For example *.ts; ! excludes"),
      context: z.int().min(0).max(20).default(0).describe("Context lines"),
      multiline: z.boolean().default(false).describe("Match across lines; . does not match a newline"),
      max_per_file: z.int().min(1).optional(),
      max_bytes: z.int().min(1).max(MAX_ANSWER_BYTES).default(ANSWER_BYTES).describe("Answer budget"),
      ...pagingInput(100, 1_000),
    }),
    output: z.object({
      matches: z.array(TextMatch).readonly(),
      count: z.int().describe("Matches on this page"),
      total: z.int().nullable().describe("Total matches; null when the search was cut short"),
      ...notSearched,
    }),
    errors: [
      "NOT_FOUND",
      "NOT_A_FILE",
      "NOT_TEXT",
      "OUTSIDE_WORKSPACE",
      "INVALID_CURSOR",
      "TOO_LARGE",
      "LIMIT_EXCEEDED",
      "TIMEOUT",
      "UNSUPPORTED",
      "EXEC_FAILED",
    ],
    examples: [
      { title: "Find whole words", input: { pattern: "answer", word: true } },
      {
        title: "In TypeScript files, with context",
        input: { pattern: "export (const|function)", glob: "*.ts", context: 2 },
      },
      { title: "Plain text in one folder", input: { pattern: "= 42;", fixed: true, path: "src" } },
    ],
    text(data, reader) {
      const { matches, count, total } = data;
      const hasContext = matches.some(({ before, after }) => before || after);
      const blocks = matches.map((match) => {
        const { uri, range, text, before = [], after = [] } = match;
        const at = (line: number, mark: string) =>
          `${reader.path(uri)}${mark}${line + 1}${mark === ":" ? ": " : "- "}`;
        const own = text.replace(/\r?\n$/, "").split("\n");
        const first = range.start.line;
        return [
          ...before.map((line, n) => at(first - before.length + n, "-") + line),
          ...own.map((line, n) => at(first + n, ":") + line),
          ...after.map((line, n) => at(first + own.length + n, "-") + line),
        ].join("\n");
      });
      const files = new Set(matches.map(({ uri }) => uri));
      return {
        body: blocks.join(hasContext ? "\n--\n" : "\n") || "no matches",
        notes: [
          total !== null && total > count && `${count} of ${total} matches`,
          total === null && `${count} matches so far; not everything was searched`,
          matches.some(({ text_truncated }) => text_truncated) && "long lines are cut",
          ...notSearchedNotes(data),
        ],
        handles: { hash: files.size === 1 ? matches[0]?.hash : undefined },
      };
    },
    async run({ path, glob, max_per_file, max_bytes, cursor: _cursor, ...input }, ctx) {
      ctx.backend("ripgrep");
      const page = await searchText(
        workspace,
        {
          ...input,
          path: path === undefined ? undefined : resolveUri(workspace.confinement, path),
          globs: glob === undefined ? [] : [glob].flat(),
          maxPerFile: max_per_file,
          maxBytes: max_bytes,
          after: ctx.resume(TextSearchPosition),
          hides: (file) => ctx.hides(pathToUri(file)) !== undefined,
        },
        {
          signal: ctx.signal,
          onProgress: ({ seconds, files }) =>
            ctx.progress({
              progress: seconds,
              total: MAX_SEARCH_MS / 1_000,
              message: `matches in ${files} files so far`,
            }),
        },
      );
      if (page.indexed) ctx.backend("trigrams+ripgrep");
      if (page.next) ctx.more(page.next);
      return {
        matches: page.matches,
        count: page.matches.length,
        total: page.total,
        ...toNotSearched(ctx, page.missing),
      };
    },
  });
