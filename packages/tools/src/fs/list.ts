import { ANSWER_BYTES, action, counted, pagingInput, Uri } from "@octant/core";
import { Entry, type Files } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 10_000;
/** A larger limit gets a larger budget; long names reduce the number of entries. */
const BYTES_PER_ENTRY = ANSWER_BYTES / DEFAULT_LIMIT;
const MAX_DEPTH = 1_000;
const MAX_PATTERN_CHARS = 4_096;
/** Smaller files are listed without their size. */
const LARGE_BYTES = 64 * 1024;

/** The path of the last entry, relative to the listed folder. */
const PagePosition = z.string();

export const list = ({ files }: { readonly files: Files }) =>
  action({
    summary: "List a folder or tree, respecting ignore files, filtered by glob and kind.",
    ...INSPECT,
    input: z.strictObject({
      uri: Uri.default("."),
      depth: z.int().min(1).max(MAX_DEPTH).optional().describe("Levels; default 1, or all with a pattern"),
      pattern: z
        .string()
        .min(1)
        .max(MAX_PATTERN_CHARS)
        .optional()
        .describe("Glob; *.ts matches names at any depth, src/**/*.ts paths from the folder"),
      include_ignored: z.boolean().default(false).describe("Include ignored files"),
      kind: z.enum(["file", "directory", "symlink"]).optional(),
      ...pagingInput(DEFAULT_LIMIT, MAX_LIMIT),
    }),
    output: z.object({
      entries: z.array(Entry),
      unreadable: z.int().optional().describe("Folders that could not be read"),
    }),
    errors: ["NOT_FOUND", "NOT_A_DIRECTORY", "OUTSIDE_WORKSPACE", "ACCESS_DENIED", "INVALID_CURSOR"],
    examples: [
      { title: "The workspace root", input: {} },
      { title: "All TypeScript files", input: { pattern: "*.ts", kind: "file" } },
    ],
    text({ entries, unreadable }, { path }) {
      const lines = entries.map(({ uri, kind, size }) => {
        if (kind === "directory") return `${path(uri)}/`;
        const mark = kind === "file" ? "" : `  (${kind})`;
        return `${path(uri)}${mark}${size >= LARGE_BYTES ? `  (${Math.round(size / 1024)} KiB)` : ""}`;
      });
      return {
        body: lines.join("\n") || "no entries",
        notes: [unreadable !== undefined && `${counted(unreadable, "folder")} could not be read`],
      };
    },
    async run({ uri, depth, pattern, include_ignored, kind, limit }, ctx) {
      const { entries, unreadable, next } = await files.list(uri, {
        depth: depth ?? (pattern === undefined ? 1 : MAX_DEPTH),
        pattern,
        includeIgnored: include_ignored,
        kind,
        limit,
        maxBytes: Math.max(ANSWER_BYTES, limit * BYTES_PER_ENTRY),
        after: ctx.resume(PagePosition),
        signal: ctx.signal,
      });
      if (next !== undefined) ctx.more(next);
      return { entries, ...(unreadable > 0 && { unreadable }) };
    },
  });
