import { timingSafeEqual } from "node:crypto";
import { Hash, Uri } from "@octant/core";
import { z } from "zod";
import { pathToUri } from "../path.ts";
import { ChangedKind } from "./changed-kind.ts";
import { type Change, kindOfChange } from "./file-step.ts";
import type { Seal } from "./seal.ts";

const HEADER = "*** Octant Undo";

const FileEntry = z.strictObject({
  uri: Uri,
  kind: ChangedKind.default("file"),
  /** The state to restore; null: no entry. The content is in the blob store under its hash. */
  before: z.strictObject({ hash: Hash, mode: z.int().min(0).max(0o7777) }).nullable(),
  /** The expected current state; null: no entry. */
  after: z.strictObject({ hash: Hash }).nullable(),
});

/** A removed or restored folder, or another entry that is not stored by hash. */
const TreeEntry = z.discriminatedUnion("tree", [
  z.strictObject({ uri: Uri, tree: z.literal("trash"), id: z.string().regex(/^[0-9a-f]{32}$/) }),
  z.strictObject({ uri: Uri, tree: z.literal("blobs"), manifest: Hash }),
  z.strictObject({ uri: Uri, tree: z.literal("remove"), fingerprint: Hash }),
]);
export type TreeEntry = z.output<typeof TreeEntry>;

const DirectoryMode = z.strictObject({ uri: Uri, mode: z.int().min(0).max(0o7777) });
export type DirectoryMode = z.output<typeof DirectoryMode>;

const Folders = z.strictObject({ folders: z.array(Uri), modes: z.array(DirectoryMode).optional() });

/** Separates the steps of a record that takes several. */
const NextStep = z.strictObject({ step: z.literal("next") });

/** The inverse of a change, with the state it expects. */
export type Undo =
  | {
      readonly kind: "steps";
      readonly steps: readonly UndoStep[];
      /** Whether files that already have the desired state are skipped, so that an interrupted undo resumes. */
      readonly resumes: boolean;
    }
  | { readonly kind: "tree"; readonly tree: TreeEntry };
export type FileEntry = z.output<typeof FileEntry>;

/** Files that change together. */
export interface UndoStep {
  readonly files: readonly FileEntry[];
  /** Removed afterwards if they are empty, the last first. */
  readonly folders: readonly Uri[];
  /** Set last. */
  readonly modes: readonly DirectoryMode[];
}

export type UndoRecords = ReturnType<typeof createUndoRecords>;

/**
 * Writes and reads undo records: text with a header, one JSON line per file, one for the created folders, and a seal.
 * The seal proves that Octant wrote it: anybody can get bytes into the blob store by editing a file, and a forged
 * record could restore what no patch may write.
 */
export function createUndoRecords(sealOf: Seal) {
  const encodeLines = (lines: readonly unknown[]): Buffer => {
    const text = [HEADER, ...lines.map((line) => JSON.stringify(line)), ""].join("\n");
    return Buffer.from(`${text}${SEAL}${sealOf(text).toString("hex")}\n`);
  };

  return {
    encodeTree: (entry: TreeEntry): Buffer => encodeLines([entry]),
    /** Consecutive steps; a record that does not resume has one. */
    encodeSteps: (steps: readonly UndoStep[], { resumes }: { readonly resumes: boolean }): Buffer =>
      encodeLines(
        steps.flatMap(({ files, folders, modes }) => [
          ...files,
          ...(resumes || folders.length + modes.length > 0 ? [{ folders, modes }] : []),
          ...(resumes ? [{ step: "next" } satisfies z.input<typeof NextStep>] : []),
        ]),
      ),
    /** undefined when the bytes are not one of our records. */
    parse(bytes: Buffer): Undo | undefined {
      if (!bytes.subarray(0, HEADER.length + 1).equals(Buffer.from(`${HEADER}\n`))) return undefined;
      const [, text = "", seal = ""] = SEALED.exec(bytes.toString()) ?? [];
      if (seal === "" || !timingSafeEqual(sealOf(text), Buffer.from(seal, "hex"))) return undefined;
      return parseLines(text.trimEnd().split("\n").slice(1));
    },
  };
}

const SEAL = "*** Seal: ";
const SEALED = /^(.*\n)\*\*\* Seal: ([0-9a-f]{64})\n$/s;

/** The entries that restore what the changes replace. */
export const toFileEntries = (changes: readonly Change[]): FileEntry[] =>
  changes.map((change) => ({
    uri: pathToUri(change.path),
    kind: kindOfChange(change),
    before: change.before && { hash: change.before.hash, mode: change.before.stat.mode & 0o7777 },
    after: change.after && { hash: change.after.hash },
  }));

function parseLines(lines: readonly string[]): Undo | undefined {
  const entries: unknown[] = lines.map((line) => JSON.parse(line));
  const tree = TreeEntry.safeParse(entries[0]);
  if (tree.success) return { kind: "tree", tree: tree.data };
  if (!NextStep.safeParse(entries.at(-1)).success) {
    const step = parseStep(entries);
    return step && { kind: "steps", steps: [step], resumes: false };
  }
  const steps: UndoStep[] = [];
  for (let rest = entries; rest.length > 0; ) {
    const end = rest.findIndex((entry) => NextStep.safeParse(entry).success);
    const step = parseStep(rest.slice(0, end));
    if (!step) return undefined;
    steps.push(step);
    rest = rest.slice(end + 1);
  }
  return { kind: "steps", steps, resumes: true };
}

function parseStep(entries: readonly unknown[]): UndoStep | undefined {
  const last = Folders.safeParse(entries.at(-1));
  const files = z.array(FileEntry).safeParse(last.success ? entries.slice(0, -1) : entries);
  if (!files.success) return undefined;
  return { files: files.data, folders: last.data?.folders ?? [], modes: last.data?.modes ?? [] };
}
