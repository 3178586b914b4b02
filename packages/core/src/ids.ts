import { randomBytes } from "node:crypto";
import { z } from "zod";
import { ofKind } from "./argument-kinds.ts";

const MAX_URI_CHARS = 16_384;

/** Where something is. Answers always hold `file:///…`; a path without a scheme is relative to the workspace root. */
export const Uri = ofKind("path", z.string().min(1).max(MAX_URI_CHARS).describe("URI or path"));
export type Uri = z.output<typeof Uri>;

/** The hash of a file's bytes. */
export const Hash = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, "a hash is sha256: and 64 hex digits, as fs.read and fs.stat give it")
  .describe("sha256:… from fs.read or fs.stat");
export type Hash = z.output<typeof Hash>;

const PREFIX_DIGITS = 12;

/** A hash, or its first digits, as a reader of text has it: enough to tell the states of one file apart. */
export const HashPrefix = z
  .string()
  .regex(/^(?:sha256:)?[0-9a-f]{12,64}$/, "a hash is at least 12 hex digits, as fs.read and fs.stat give it")
  .describe("From fs.read or fs.stat");

/** The digits of a hash that text shows. */
export const shortHash = (hash: string): string => hash.replace(/^sha256:/, "").slice(0, PREFIX_DIGITS);

export const isHashOf = (given: string, hash: Hash): boolean =>
  hash.startsWith(given.startsWith("sha256:") ? given : `sha256:${given}`);

/** Counts from 0; `col` counts UTF-16 units, as LSP does. */
export const Position = z.strictObject({ line: z.int().min(0), col: z.int().min(0).default(0) });
export type Position = z.output<typeof Position>;

/** The end is exclusive. */
export const Range = z.strictObject({ start: Position, end: Position });
export type Range = z.output<typeof Range>;

/**
 * Stored content that reads like a file: a scheme, then a hash or a handle. Tools declare the schemes they serve in
 * `refs`; a ref with another scheme is NOT_FOUND.
 */
export const Ref = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{1,31}:(sha256:[0-9a-f]{64}|[a-z]{2,16}_[0-9a-z]+)$/,
    "a ref is a scheme with a hash or a handle, such as blob:sha256:… or stdout:proc_…",
  )
  .describe("blob:sha256:…, stdout:proc_… or another ref");
export type Ref = z.output<typeof Ref>;

/** The scheme of a ref: `stdout` of `stdout:proc_…`. */
export const schemeOf = (ref: Ref): string => ref.slice(0, ref.indexOf(":"));

export const SymbolId = ofKind(
  "symbol",
  z
    .string()
    .regex(/^sym:[^#]+#.+$/s, "a symbol_id is sym:<path>#Outer.inner")
    .describe("sym:<path>#Outer.inner"),
);
export type SymbolId = z.output<typeof SymbolId>;

/** The schema of a handle, such as `handle("plan")`: the kind, then 36 characters that sort by creation time. */
export function handle(kind: string) {
  if (!HANDLE_KIND.test(kind)) throw new TypeError(`invalid handle kind '${kind}': use 2 to 16 letters a-z`);
  return z
    .string()
    .regex(
      new RegExp(`^${kind}_[0-9a-z]{36}$`),
      `expected ${kind}_ and 36 letters and digits, as an earlier answer gave it`,
    );
}

const HANDLE_KIND = /^[a-z]{2,16}$/;

export const ProcId = handle("proc");
export const JobId = handle("job");
export const RunId = handle("run");
export const PatchId = handle("patch");

const TIME_DIGITS = 10;
const RANDOM_DIGITS = 26;
const RANDOM_BYTES = 16;

/**
 * Creates a handle that sorts by time. Its 128 random bits make it unguessable, and unique when the clock is set
 * back.
 */
export function newHandle(kind: string, now: number): string {
  const time = Math.floor(now).toString(36).padStart(TIME_DIGITS, "0");
  const random = BigInt(`0x${randomBytes(RANDOM_BYTES).toString("hex")}`);
  return `${kind}_${time}${random.toString(36).padStart(RANDOM_DIGITS, "0")}`;
}
