import { type Hash, invalidArgument, type Uri } from "@octant/core";
import type { Blobs } from "../blobs/blobs.ts";
import type { Confinement } from "../confinement.ts";
import { unifiedDiff } from "../patch/unified-diff.ts";
import { nameInPatch } from "./plan-patch.ts";
import { readExisting } from "./read-before.ts";

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
