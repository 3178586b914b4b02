import { Lines, Range, ToolError } from "@octant/core";
import { z } from "zod";
import type { Path } from "../path.ts";

/** One edit of a file, told without a diff. */
export const StructuredEdit = z
  .discriminatedUnion("op", [
    z.strictObject({
      op: z.literal("replace"),
      old: z.string().min(1),
      new: z.string(),
      count: z.int().min(1).optional().describe("How often `old` occurs; all are replaced. Default 1"),
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

/** What git's patches are about. The content of a link is where it leads, that of a submodule names a commit. */
export type EntryType = "file" | "link" | "submodule";

/** What a patch does to one file. A create is applied to no bytes, a delete leaves none. */
export type FileChange = {
  readonly path: Path;
  /** Absent when the patch does not say. */
  readonly type?: EntryType;
  readonly edits: Edits;
} & (
  | {
      readonly kind: "update";
      readonly newPath?: Path;
      /** The file at `path` stays as it is; `newPath` gets the result. */
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
  /** Where the patch says that it starts, from 0; absent when the patch does not say. */
  readonly line?: number;
  /** Lines that come before it, outermost first. */
  readonly anchors: readonly string[];
  /** Whether the patch says that it ends with the file. */
  readonly atEnd: boolean;
  readonly lines: readonly HunkLine[];
}

export type Eol = "\n" | "\r\n" | "";

export interface HunkLine {
  readonly op: " " | "-" | "+";
  readonly text: string;
  /** As the patch writes it; "" when it says that there is no newline at the end of the file. */
  readonly eol: Eol;
}

export interface BinaryEdit {
  readonly method: "literal" | "delta";
  readonly data: Buffer;
  readonly resultBytes: number;
  /** The git object id of the content that it applies to, where the patch gives it in full. */
  readonly oldId?: string;
}

/** The start and end in the decoded text of what is replaced by `text`. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** What became of one hunk or one structured edit. */
export interface HunkReport {
  /** Where it starts in the new file, from 0. */
  readonly line: number;
  readonly added: number;
  readonly removed: number;
  /** How many lines below the stated place it was found. */
  readonly offset: number;
}

/** How an edit was found: byte for byte (line endings aside), or with other spaces and tabs. */
export type Match = "exact" | "whitespace";

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

/** A patch that cannot be read. The message counts its lines from 1, as editors do; `details.line` counts from 0. */
export const malformed = (line: number, message: string) =>
  patchFailed(`line ${line + 1} of the patch: ${message}`, { line });
