import type { Hash, Uri } from "@octant/core";
import type { Blobs } from "../blobs/blobs.ts";
import type { Confinement } from "../confinement.ts";
import type { FileChange, StructuredEdit } from "../patch/change.ts";
import { parsePatch } from "../patch/parse.ts";
import type { Bases } from "./plan-patch.ts";
import type { Undo, UndoRecords } from "./undo-records.ts";

export interface PatchRequest {
  /** A patch in any form, or a ref: to a patch, or to the undo record of an earlier change. */
  readonly patch: string | readonly StructuredEdit[];
  readonly uri?: Uri;
  readonly base_hash?: Hash;
  readonly files?: readonly { readonly uri: Uri; readonly base_hash: Hash }[];
  readonly dry_run?: boolean;
}

/** The request: apply a patch, or undo an earlier change. */
export type Asked = { readonly patch: readonly FileChange[] } | { readonly undo: Undo };

export function readRequest(
  confinement: Confinement,
  blobs: Blobs,
  records: UndoRecords,
  request: PatchRequest,
): Asked {
  const { patch } = request;
  const hash = typeof patch === "string" ? REF.exec(patch.trim())?.[1] : undefined;
  const kept = hash === undefined ? undefined : blobs.get(hash);
  const undo = kept && records.parse(kept);
  if (undo) return { undo };
  return { patch: toChanges(confinement, kept?.toString() ?? patch, request.uri) };
}

const REF = /^blob:(sha256:[0-9a-f]{64})$/;

/** If the patch has one file and the caller names a file, the caller's name wins. */
function toChanges(
  confinement: Confinement,
  patch: PatchRequest["patch"],
  uri: Uri | undefined,
): FileChange[] {
  const target = uri === undefined ? undefined : confinement.toPath(uri);
  const changes = parsePatch(patch, target);
  const [only] = changes;
  if (target === undefined || changes.length !== 1 || !only) return changes;
  return [{ ...only, path: target }];
}

export function toBases(
  confinement: Confinement,
  { uri, base_hash, files = [] }: PatchRequest,
  patch: readonly FileChange[],
): Bases {
  const known = new Map(files.map((file) => [confinement.toPath(file.uri), file.base_hash]));
  if (uri !== undefined && base_hash !== undefined) known.set(confinement.toPath(uri), base_hash);
  const isAlone = patch.filter(({ kind }) => kind !== "create").length === 1;
  const only = isAlone && uri === undefined ? base_hash : undefined;
  return (asked, real) => known.get(asked) ?? known.get(real) ?? only;
}
