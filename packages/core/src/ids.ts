import { randomUUID } from "node:crypto";
import { z } from "zod";
import { holding } from "./holds.ts";

const MAX_URI_CHARS = 16_384;

/** Where something is. Answers always hold `file:///…`; a path without a scheme is taken from the workspace root. */
export const Uri = holding("path", z.string().min(1).max(MAX_URI_CHARS).describe("URI or path"));
export type Uri = z.output<typeof Uri>;

/** What a file's bytes were. */
export const Hash = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, "a hash is sha256: and 64 hex digits, as fs.read and fs.stat give it")
  .describe("sha256:… from fs.read or fs.stat");
export type Hash = z.output<typeof Hash>;

/** Counts from 0; `col` counts UTF-16 units, as LSP does. */
export const Position = z.strictObject({ line: z.int().min(0), col: z.int().min(0).default(0) });
export type Position = z.output<typeof Position>;

/** The end is exclusive. */
export const Range = z.strictObject({ start: Position, end: Position });
export type Range = z.output<typeof Range>;

/** Something kept that reads like a file. */
export const Ref = z
  .string()
  .regex(
    /^(blob:sha256:[0-9a-f]{64}|(stdout|stderr):proc_[0-9a-z]+)$/,
    "a ref is blob:sha256:…, stdout:proc_… or stderr:proc_…",
  )
  .describe("blob:sha256:…, stdout:proc_… or stderr:proc_…");
export type Ref = z.output<typeof Ref>;

export const SymbolId = holding(
  "symbol",
  z
    .string()
    .regex(/^sym:[^#]+#.+$/s, "a symbol_id is sym:<path>#Outer.inner")
    .describe("sym:<path>#Outer.inner"),
);
export type SymbolId = z.output<typeof SymbolId>;

export const HANDLES = ["proc", "job", "run", "patch", "stream"] as const;
export type HandleKind = (typeof HANDLES)[number];

/** The schema of a handle: its prefix, then 36 characters that sort by the time they were made. */
export const handle = (kind: HandleKind) =>
  z
    .string()
    .regex(
      new RegExp(`^${kind}_[0-9a-z]{36}$`),
      `a ${kind} id is ${kind}_ and 36 letters and digits, as it was given to you`,
    );

export const ProcId = handle("proc");
export const JobId = handle("job");
export const RunId = handle("run");
export const PatchId = handle("patch");
export const StreamId = handle("stream");

const TIME_DIGITS = 10;

/** Makes handles that sort by time and hold 126 random bits: nobody guesses one, and a clock set back repeats none. */
export function newHandle(kind: HandleKind, now: number): string {
  const time = Math.floor(now).toString(36).padStart(TIME_DIGITS, "0");
  return `${kind}_${time}${randomDigits()}`;
}

/**
 * Base 36. Random UUIDs come from a pool, at a tenth of what as many random bytes cost; only their first and last parts
 * are all random. As numbers these take a third of the time that one large integer does.
 */
function randomDigits(): string {
  const [one, other] = [randomUUID(), randomUUID()];
  return toDigits(one.slice(0, 8), 7) + toDigits(one.slice(-12), 10) + toDigits(other.slice(-12), 9);
}

/** The last digits of a number that is given in hexadecimal digits. */
const toDigits = (hex: string, count: number): string =>
  Number.parseInt(hex, 16).toString(36).padStart(count, "0").slice(-count);
