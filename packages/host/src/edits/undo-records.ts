import { timingSafeEqual } from "node:crypto";
import { Hash, Uri } from "@octant/core";
import { z } from "zod";
import { pathToUri } from "../path.ts";
import { ChangedKind } from "./changed-kind.ts";
import { type Change, kindOfChange } from "./file-step.ts";
import type { Seal } from "./seal.ts";

const HEADER = "*** Octant Undo";

const Mode = z.int().min(0).max(0o7777);

const FileEntry = z.strictObject({
  uri: Uri,
  kind: ChangedKind,
  /** The state to restore; null: no entry. The content is in the blob store under its hash. */
  before: z.strictObject({ hash: Hash, mode: Mode }).nullable(),
  /** The expected current state; null: no entry. */
  after: z.strictObject({ hash: Hash }).nullable(),
});
export type FileEntry = z.output<typeof FileEntry>;

/** A removed or restored folder, or another entry that is not stored by hash. */
const TreeEntry = z.discriminatedUnion("tree", [
  z.strictObject({ uri: Uri, tree: z.literal("trash"), id: z.string().regex(/^[0-9a-f]{32}$/) }),
  z.strictObject({ uri: Uri, tree: z.literal("blobs"), manifest: Hash }),
  z.strictObject({ uri: Uri, tree: z.literal("remove"), fingerprint: Hash }),
]);
export type TreeEntry = z.output<typeof TreeEntry>;

const DirectoryMode = z.strictObject({ uri: Uri, mode: Mode });
export type DirectoryMode = z.output<typeof DirectoryMode>;

/** Files that change together. */
const UndoStep = z.strictObject({
  files: z.array(FileEntry),
  /** Removed afterwards if they are empty, the last first. */
  folders: z.array(Uri),
  /** Set last. */
  modes: z.array(DirectoryMode),
});
export type UndoStep = z.output<typeof UndoStep>;

/** The inverse of a change, with the state it expects. */
const Undo = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("steps"),
    steps: z.array(UndoStep),
    /** Whether files that already have the desired state are skipped, so that an interrupted undo resumes. */
    resumes: z.boolean(),
  }),
  z.strictObject({ kind: z.literal("tree"), tree: TreeEntry }),
]);
export type Undo = z.output<typeof Undo>;

export type UndoRecords = ReturnType<typeof createUndoRecords>;

/**
 * Writes and reads undo records: a header, a line of JSON, and a seal. The seal proves that Octant wrote it: anybody
 * can get bytes into the blob store by editing a file, and a forged record could restore what no patch may write.
 */
export const createUndoRecords = (sealOf: Seal) => ({
  encode(undo: Undo): Buffer {
    const text = `${HEADER}\n${JSON.stringify(undo)}\n`;
    return Buffer.from(`${text}*** Seal: ${sealOf(text).toString("hex")}\n`);
  },
  /** undefined when the bytes are not one of our records. */
  parse(bytes: Buffer): Undo | undefined {
    if (!bytes.subarray(0, HEADER.length + 1).equals(Buffer.from(`${HEADER}\n`))) return undefined;
    const [, text = "", seal = ""] = SEALED.exec(bytes.toString()) ?? [];
    if (seal === "" || !timingSafeEqual(sealOf(text), Buffer.from(seal, "hex"))) return undefined;
    return Undo.safeParse(JSON.parse(text.slice(HEADER.length))).data;
  },
});

const SEALED = /^([^\n]+\n[^\n]+\n)\*\*\* Seal: ([0-9a-f]{64})\n$/;

/** The entries that restore what the changes replace. */
export const toFileEntries = (changes: readonly Change[]): FileEntry[] =>
  changes.map((change) => ({
    uri: pathToUri(change.path),
    kind: kindOfChange(change),
    before: change.before && { hash: change.before.hash, mode: change.before.stat.mode & 0o7777 },
    after: change.after && { hash: change.after.hash },
  }));
