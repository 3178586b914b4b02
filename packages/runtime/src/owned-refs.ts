import { ownerOf, type Step, ToolError } from "@octant/core";
import type { Blobs } from "@octant/host";

const REF = /^\s*blob:(sha256:[0-9a-f]{64})\s*$/;

/**
 * An owner of the bridge reads, undoes and sends only stored content whose ref it was given: hashes of contents are not
 * secret. Refs in answers are given to the owner.
 */
export const ownRefs =
  (blobs: Pick<Blobs, "isVisible" | "grant">): Step =>
  async (call, { caller }, next) => {
    if (ownerOf(caller.id) === undefined) return next();
    for (const hash of hashesIn(call.input)) if (!blobs.isVisible(hash, caller.id)) throw notYours(hash);
    const data = await next();
    blobs.grant(hashesIn(data), caller.id);
    return data;
  };

/** The hashes of all refs in a value. */
function hashesIn(value: unknown): string[] {
  if (typeof value === "string") return REF.exec(value)?.slice(1) ?? [];
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return [];
  return Object.values(value).flatMap(hashesIn);
}

const notYours = (hash: string) =>
  new ToolError("NOT_FOUND", `no content with ${hash} is stored for you`, { id: `blob:${hash}` });
