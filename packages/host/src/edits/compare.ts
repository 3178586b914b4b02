import { attempt, type Hash, invalidArgument, type Uri } from "@octant/core";
import type { Blobs } from "../blobs/blobs.ts";
import type { Confinement } from "../confinement.ts";
import { unifiedDiff } from "../patch/unified-diff.ts";
import { nameInPatch } from "./plan-patch.ts";
import { readExisting } from "./read-before.ts";
import type { FileEntry } from "./undo-records.ts";

/** Two of the three: `uri` is the current file, and replaces an absent hash. */
export interface Comparison {
  readonly uri?: Uri;
  readonly hash_a?: Hash;
  readonly hash_b?: Hash;
}

/** The unified diff from one state of a file to another. States that an edit replaced are known by their hash. */
export function compareStates(confinement: Confinement, blobs: Blobs, { uri, hash_a, hash_b }: Comparison) {
  if ([uri, hash_a, hash_b].filter((one) => one !== undefined).length !== 2)
    throw invalidArgument("", "give hash_a and hash_b, or uri (the file as it is now) and one of them");
  const current = uri === undefined ? undefined : readExisting(confinement, confinement.toPath(uri));
  const stateOf = (hash: Hash | undefined) =>
    hash === undefined ? current! : current?.hash === hash ? current : { hash, bytes: blobs.get(hash) };
  const [a, b] = [stateOf(hash_a), stateOf(hash_b)];
  const path = current ? nameInPatch(confinement, current.path) : "content";
  const diff = unifiedDiff({ path, before: a.bytes, after: b.bytes, binary: "summary" });
  return { hash_a: a.hash, hash_b: b.hash, diff };
}

/** Diffs are for people: larger files are left out. */
const MAX_DIFF_BYTES = 1024 * 1024;

/**
 * The diff of an edit, from the record that takes it back. Files that are no longer as the edit left them are left out,
 * and so are files that the rules hide.
 */
export function diffOfEdit(confinement: Confinement, blobs: Blobs, files: readonly FileEntry[]): string {
  const diffOf = ({ uri, kind, before, after }: FileEntry): string => {
    if (kind !== "file") return "";
    const path = confinement.toPath(uri);
    const now = after ? readExisting(confinement, path) : undefined;
    if (now?.hash !== after?.hash) return "";
    const states = { before: before && blobs.get(before.hash), after: now?.bytes ?? null };
    if (Object.values(states).some((bytes) => (bytes?.length ?? 0) > MAX_DIFF_BYTES)) return "";
    return unifiedDiff({ path: nameInPatch(confinement, path), ...states, binary: "summary" });
  };
  return files.map((file) => attempt(() => diffOf(file)) ?? "").join("");
}
