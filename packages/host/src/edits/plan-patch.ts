import { Hash, isHashOf, shortHash, ToolError, Uri } from "@octant/core";
import { z } from "zod";
import type { Blobs } from "../blobs/blobs.ts";
import type { Confinement } from "../confinement.ts";
import { hashOf } from "../hashes.ts";
import { type Applied, applyChange } from "../patch/apply.ts";
import {
  type EntryType,
  type FileChange,
  HunkReport,
  isPatchFailed,
  Match,
  patchFailed,
  quotesItsText,
} from "../patch/change.ts";
import { fromNative, type Path, pathToUri } from "../path.ts";
import { entryError } from "../system-error.ts";
import type { Unsaved } from "./buffers.ts";
import { conflict } from "./conflict.ts";
import type { Change, Wanted } from "./file-step.ts";
import { findFree, findPlace } from "./new-place.ts";
import { createStates, type States } from "./patched-states.ts";
import { applyToLink, checkLinkBase, checkTarget, readLink } from "./plan-link.ts";
import { planSubmodule, readSubmodule, typeOf } from "./plan-submodule.ts";
import { checkWritable } from "./protected-paths.ts";
import { checkSize, checkWriteAccess, type ExistingFile, readExisting } from "./read-before.ts";

/** The effect of a patch on one file, as reported to the caller. */
export const FileReport = z.object({
  uri: Uri,
  hash: Hash.nullable().describe("null: the file was removed, or is a folder"),
  match: Match,
  hunks: z.array(HunkReport).readonly(),
  kind: z
    .enum(["symlink", "submodule"])
    .optional()
    .describe("submodule: only its empty folder is created or removed; the rest is in git's index"),
  created: z.literal(true).optional(),
  deleted: z.literal(true).optional(),
  renamed_from: Uri.optional(),
  copied_from: Uri.optional(),
});
export type FileReport = z.output<typeof FileReport>;

export interface Plan {
  readonly changes: readonly Change[];
  /** Folders to create, outermost first. */
  readonly folders: readonly Path[];
  readonly reports: readonly FileReport[];
}

/** The base_hash for a file, by requested path or by real path. */
export type Bases = (asked: Path, real: Path) => Hash | undefined;

export interface Part {
  readonly change: FileChange;
  readonly type: EntryType;
  readonly asked: Path;
  /** The path that the patch creates, moves or copies to. */
  readonly made: Path | undefined;
  /** The source file; undefined for a create. */
  readonly source: ExistingFile | undefined;
}

/** Plans a patch without changing anything. All rules about protected files are checked here. */
export function planPatch(
  confinement: Confinement,
  blobs: Blobs,
  patch: readonly FileChange[],
  bases: Bases,
  unsaved: Unsaved = new Map(),
): Plan {
  const named = patch.map((change) => {
    const asked = toPath(confinement, change.path);
    const name = change.kind === "create" ? change.path : change.kind === "update" && change.newPath;
    const made = name ? toPath(confinement, name) : undefined;
    return { change, asked, made, type: typeOf(confinement, change, asked) };
  });
  const parts = named.map((part): Part => {
    const source = readSource(confinement, part, named);
    const bytes = source?.kind === "file" ? unsaved.get(source.path) : undefined;
    return { ...part, source: source && bytes ? { ...source, bytes, hash: hashOf(bytes) } : source };
  });
  if (parts.some(({ type }) => type !== "file")) checkPlaces(confinement, parts);
  checkBases(confinement, blobs, parts, bases);
  const states = createStates();
  // Removals first: a patch may give one file the name of another that it moves away.
  for (const { change, source } of parts) if (source && !isCopy(change)) states.take(source);
  const reports = parts.map((part) => planPart(confinement, part, states));
  return { ...states.result(), reports };
}

/** The files that a patch reads, changes or removes. */
export const pathsIn = (confinement: Confinement, patch: readonly FileChange[]): Path[] =>
  patch.flatMap((change) => (change.kind === "create" ? [] : [toPath(confinement, change.path)]));

/** A path in a patch starts at the first root, unless it is absolute. */
function toPath(confinement: Confinement, path: Path): Path {
  if (/^(?:file:\/\/|~\/)/i.test(path)) return confinement.toPath(path);
  return confinement.toPath(pathToUri(path.startsWith("/") ? path : `${confinement.roots[0]}/${path}`));
}

type Named = Omit<Part, "source">;

function readSource(confinement: Confinement, part: Named, all: readonly Named[]): ExistingFile | undefined {
  const { change, type, asked } = part;
  if (change.kind === "create") return undefined;
  if (type === "link") return readLink(confinement, part);
  if (type === "submodule") return readSubmodule(confinement, part, all);
  const movesAway = change.kind === "delete" || (change.newPath !== undefined && !change.copy);
  if (movesAway) checkNoLink(confinement, asked);
  const file = readExisting(confinement, asked);
  if (isCopy(change)) return file;
  checkWritable(confinement.roots, asked, file.path);
  if (!movesAway) checkWriteAccess(file);
  return file;
}

const isCopy = (change: FileChange): boolean => change.kind === "update" && change.copy === true;

/** Editing through a link edits its target; deleting or renaming through one is ambiguous. */
function checkNoLink(confinement: Confinement, path: Path): void {
  using entry = confinement.openEntry(path);
  if (!entry.stat.isSymbolicLink()) return;
  const what = "is a link; a patch deletes or renames files only, fs.rm removes the link";
  throw entryError("NOT_A_FILE", path, what, { kind: "symlink" });
}

/** If a patch changes links, a path through one depends on the order, so every file needs its real path. */
function checkPlaces(confinement: Confinement, parts: readonly Part[]): void {
  for (const { asked, made, source } of parts) {
    const places = [
      [asked, source?.path ?? findPlace(confinement, asked).path],
      ...(made === undefined ? [] : [[made, findPlace(confinement, made).path]]),
    ];
    const beyond = places.find(([path, real]) => path !== real)?.[0];
    const what = "leads through a link, and this patch is about files where they are";
    if (beyond !== undefined) throw entryError("PATCH_FAILED", beyond, what);
  }
}

function checkBases(confinement: Confinement, blobs: Blobs, parts: readonly Part[], bases: Bases): void {
  for (const { source, type, asked } of parts)
    if (source && type === "link") checkLinkBase(source, bases(asked, source.path));
  const existing = parts.flatMap(({ source, asked, change, type }) =>
    source && type === "file" ? [{ file: source, change, expected: bases(asked, source.path) }] : [],
  );
  const without = existing.filter(({ expected }) => !expected);
  const missing = without.map(({ file }) => file);
  if (missing.length > 0) {
    const more = missing.length > MAX_NAMED ? ` and ${missing.length - MAX_NAMED} more` : "";
    const named = missing
      .slice(0, MAX_NAMED)
      .map(({ path, hash }) => `${pathToUri(path)} (now ${shortHash(hash)})`);
    const message = `base_hash is required for ${named.join(", ")}${more}; if you know the file as it is now, send it with that hash`;
    const uris = missing.map(({ path }) => pathToUri(path));
    throw new ToolError("PRECONDITION_REQUIRED", message, {
      uris,
      hashes: missing.map(({ hash }) => hash),
      quotes_text: without.every(({ change: one }) => quotesItsText(one)),
    });
  }
  for (const { file, change, expected } of existing) {
    if (expected === undefined || isHashOf(expected, file.hash)) continue;
    const alone = parts.length === 1 ? change : undefined;
    throw conflict(blobs, { file, name: nameInPatch(confinement, file.path), expected, change: alone });
  }
}

const MAX_NAMED = 3;

/** The name of a file in a patch: relative to the first root, absolute in other roots. */
export function nameInPatch({ roots }: Confinement, path: Path): Path {
  const prefix = roots[0] === "/" ? "/" : `${roots[0]}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}

function planPart(confinement: Confinement, part: Part, states: States): FileReport {
  const { change, type, source, made } = part;
  if (type === "submodule") return planSubmodule(confinement, part, states);
  const { after, match, hunks } = type === "link" ? applyToLink(part) : applyToFile(part);
  const report = { match, hunks, ...(type === "link" && { kind: "symlink" as const }) };
  if (change.kind === "delete") return { uri: pathToUri(source!.path), hash: null, ...report, deleted: true };

  const place =
    made === undefined
      ? { path: source!.path, missing: [] }
      : findFree(confinement, made, states.isMovedAway);
  const uri = pathToUri(place.path);
  checkSize(uri, after.length);
  const wanted = { bytes: after, hash: hashOf(after) };
  if (type === "link") checkTarget(confinement, place.path, fromNative(after));
  states.put(
    place.path,
    type === "link" ? { kind: "symlink", ...wanted } : { kind: "file", ...wanted, ...attributesOf(part) },
    place.missing,
  );
  const from = source && made !== undefined ? pathToUri(source.path) : undefined;
  return {
    uri,
    hash: wanted.hash,
    ...report,
    ...(!source && { created: true }),
    ...(from && (isCopy(change) ? { copied_from: from } : { renamed_from: from })),
  };
}

/** A patch may be of many files, so a failure says of which it is. */
function applyToFile({ change, source, asked }: Part): Applied {
  try {
    return applyChange(source?.bytes ?? Buffer.alloc(0), change);
  } catch (cause) {
    if (!isPatchFailed(cause)) throw cause;
    const uri = pathToUri(source?.path ?? asked);
    throw patchFailed(`${uri}: ${cause.message}`, { ...cause.details, uri });
  }
}

/** As in git, a patch sets only the executable bit; other permissions stay. */
function attributesOf({ change, source }: Part): Pick<Wanted, "like" | "mode" | "executable"> {
  const wanted = change.kind === "delete" ? undefined : change.mode;
  const executable = ((wanted ?? 0) & 0o111) !== 0;
  if (!source) return { executable };
  const mode = source.stat.mode & 0o7777;
  const changed = executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
  return { like: source.stat, mode: wanted === undefined ? mode : changed };
}
