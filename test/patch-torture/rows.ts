import type { ErrorCode } from "@octant/core";
import type { EntryType, Match, StructuredEdit } from "../../packages/host/src/patch/change.ts";
import { BEGIN_ROWS } from "./begin.ts";
import { FILE_ROWS } from "./files.ts";
import { MATCH_ROWS } from "./match.ts";
import { STRUCTURED_ROWS } from "./structured.ts";
import { TEXT_ROWS } from "./text.ts";

export type Content = string | Buffer;
export type Files = Readonly<Record<string, Content>>;

/**
 * One edit that other implementations get wrong. A plain value instead of a map of files is the content of the file
 * `x`, the call's target.
 */
export interface TortureRow {
  readonly name: string;
  readonly before: Content | Files;
  readonly patch: string | readonly StructuredEdit[];
  /** The expected files afterwards, byte for byte. */
  readonly after?: Content | Files;
  /** "exact" when absent. */
  readonly match?: Match;
  readonly offsets?: readonly number[];
  readonly modes?: Readonly<Record<string, number>>;
  /** The expected entry types, where the patch states them. The content of a link is its target. */
  readonly types?: Readonly<Record<string, EntryType | undefined>>;
  readonly error?: ErrorCode;
  /** Matches the message of the error. */
  readonly says?: RegExp;
  /** The candidate lines of the error, 0-based. */
  readonly candidates?: readonly number[];
}

export const TORTURE_ROWS: readonly TortureRow[] = [
  ...TEXT_ROWS,
  ...MATCH_ROWS,
  ...FILE_ROWS,
  ...BEGIN_ROWS,
  ...STRUCTURED_ROWS,
];
