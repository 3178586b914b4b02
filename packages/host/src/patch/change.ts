import { Lines, Range, ToolError } from "@octant/core";
import { z } from "zod";
import type { Path } from "../path.ts";

/** One edit of a file, expressed without a diff. */
export const StructuredEdit = z
  .discriminatedUnion("op", [
    z.strictObject({
      op: z.literal("replace"),
      old: z.string().min(1),
      new: z.string(),
      count: z
        .union([z.int().min(1), z.literal("all")])
        .optional()
        .describe("How often `old` occurs; all are replaced. Default 1"),
    }),
    z.strictObject({
      op: z.literal("insert"),
      line: z.int().min(0).describe("After this many lines; 0 inserts at the top"),
      text: z.string().min(1).describe("Whole lines"),
    }),
    z.strictObject({ op: z.literal("delete"), range: Range.optional(), lines: Lines.optional() }),
  ])
  .describe("All edits refer to the file as it was and must not overlap");
export type StructuredEdit = z.output<typeof StructuredEdit>;

/** The edits themselves quote the text that they change, once each: they fit no file that has become another one. */
export const quotesItsText = ({ kind, edits }: FileChange): boolean =>
  kind === "update" &&
  (edits.form === "structured"
    ? edits.edits.every((edit) => edit.op === "replace" && edit.count === undefined)
    : edits.form === "hunks" &&
      edits.hunks.length > 0 &&
      edits.hunks.every(({ lines }) => lines.some(({ op, text }) => op !== "+" && text.trim() !== "")));

/** The kinds of entries in git's patches. The content of a link is its target, that of a submodule a commit. */
export type EntryType = "file" | "link" | "submodule";

/** The change to one file. A create starts empty, a delete leaves nothing. */
export type FileChange = {
  readonly path: Path;
  /** Absent when the patch does not say. */
  readonly type?: EntryType;
  readonly edits: Edits;
} & (
  | {
      readonly kind: "update";
      readonly newPath?: Path;
      /** The file at `path` stays unchanged; `newPath` gets the result. */
      readonly copy?: true;
      readonly mode?: number;
    }
  | { readonly kind: "create"; readonly mode?: number }
  | { readonly kind: "delete" }
);

export type Edits = TextEdits | ({ readonly form: "binary" } & BinaryEdit);

export type TextEdits =
  | { readonly form: "hunks"; readonly hunks: readonly Hunk[] }
  | { readonly form: "structured"; readonly edits: readonly StructuredEdit[] };

export interface Hunk {
  /** The stated start line, 0-based; absent when the patch does not say. */
  readonly line?: number;
  /** Lines that precede it, outermost first. */
  readonly anchors: readonly string[];
  /** Whether the patch says that it ends with the file. */
  readonly atEnd: boolean;
  readonly lines: readonly HunkLine[];
}

export type Eol = "\n" | "\r\n" | "";

export interface HunkLine {
  readonly op: " " | "-" | "+";
  readonly text: string;
  /** As written in the patch; "" when it marks a missing newline at the end of the file. */
  readonly eol: Eol;
}

export interface BinaryEdit {
  readonly method: "literal" | "delta";
  readonly data: Buffer;
  readonly resultBytes: number;
  /** The git object id of the old content, where the patch has it in full. */
  readonly oldId?: string;
}

/** The start and end in the decoded text of the part that `text` replaces. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The result of one hunk or structured edit. */
export const HunkReport = z.object({
  line: z.int().describe("0-based, in the new file"),
  added: z.int(),
  removed: z.int(),
  offset: z.int().describe("Lines between the patch's position and the match"),
});
export type HunkReport = z.output<typeof HunkReport>;

/** How an edit matched. Line endings do not count. */
export const Match = z
  .enum(["exact", "whitespace"])
  .describe("whitespace: matched with different spaces or tabs than in the patch");
export type Match = z.output<typeof Match>;

export interface Edited {
  readonly splices: readonly Splice[];
  readonly hunks: readonly HunkReport[];
  readonly match: Match;
}

type FailureDetails = ToolError<"PATCH_FAILED">["details"];

export const patchFailed = (message: string, details: FailureDetails = {}) =>
  new ToolError("PATCH_FAILED", message, details);

export const isPatchFailed = (cause: unknown): cause is ToolError<"PATCH_FAILED"> =>
  cause instanceof ToolError && cause.code === "PATCH_FAILED";

/** An invalid patch. The message counts lines from 1, like editors; `details.line` counts from 0. */
export const malformed = (line: number, message: string) =>
  patchFailed(`line ${line + 1} of the patch: ${message}`, { line });

export const tooLarge = (limit: number, actual: number, what: string) =>
  new ToolError(
    "TOO_LARGE",
    `the patch has ${actual} ${what}, more than ${limit}; split it, or apply it with a command such as git apply`,
    {
      limit,
      actual,
      what,
    },
  );
