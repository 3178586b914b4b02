import { type Hash, ToolError, type Uri } from "@octant/core";
import type { Blobs } from "../blobs/blobs.ts";
import type { Confinement } from "../confinement.ts";
import { unifiedDiff } from "../patch/index.ts";
import type { Path } from "../path.ts";
import { readExisting } from "./existing-file.ts";
import { nameInPatch } from "./plan-patch.ts";

/** Two of the three: `uri` is the current file, and replaces an absent hash. */
export interface Comparison {
  readonly uri?: Uri;
  readonly hash_a?: Hash;
  readonly hash_b?: Hash;
}

export interface Compared {
  readonly hash_a: Hash;
  readonly hash_b: Hash;
  readonly diff: string;
}

interface State {
  readonly hash: Hash;
  readonly bytes: Buffer;
  readonly name?: Path;
}

/** The unified diff from one state of a file to another. States that an edit replaced are known by their hash. */
export function compareStates(confinement: Confinement, blobs: Blobs, asked: Comparison): Compared {
  const { uri, hash_a, hash_b } = asked;
  if ([uri, hash_a, hash_b].filter((one) => one !== undefined).length !== 2) throw needsTwo();
  const current = uri === undefined ? undefined : readCurrent(confinement, uri);
  const stateOf = (hash: Hash | undefined): State =>
    hash === undefined ? current! : current?.hash === hash ? current : { hash, bytes: blobs.get(hash) };
  const a = stateOf(hash_a);
  const b = stateOf(hash_b);
  const path = current?.name ?? "content";
  return {
    hash_a: a.hash,
    hash_b: b.hash,
    diff: unifiedDiff({ path, before: a.bytes, after: b.bytes, binary: "summary" }),
  };
}

function readCurrent(confinement: Confinement, uri: Uri): State {
  const { path, hash, bytes } = readExisting(confinement, confinement.toPath(uri));
  return { hash, bytes, name: nameInPatch(confinement, path) };
}

const needsTwo = () => {
  const message = "give hash_a and hash_b, or uri (the file as it is now) and one of them";
  return new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "", message }] });
};
