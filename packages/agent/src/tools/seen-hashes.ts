import { homedir } from "node:os";
import type { AnyAction, Call, Envelope } from "@octant/core";
import { z } from "zod";
import type { ToolFacts } from "../tool-executor.ts";

const Fields = z.record(z.string(), z.unknown());
const Missing = z.object({
  uris: z.array(z.string()),
  hashes: z.array(z.string()),
  quotes_text: z.boolean().default(false),
});

/**
 * The last state of each file that the model has seen, by URI. An edit without a base hash applies to that state;
 * decision 0041 says when it applies to the present one.
 */
export function createSeenHashes() {
  const hashes = new Map<string, string>();
  const hashOf = (uri: unknown, [root = ""]: readonly string[]) =>
    typeof uri === "string" ? hashes.get(toFileUri(uri, root)) : undefined;
  return {
    note({ read = [], changed = [] }: ToolFacts = {}): void {
      for (const { path, hash } of [...read, ...changed])
        if (hash === null) hashes.delete(path);
        else hashes.set(path, hash);
    },
    /** The edit to make instead of a call that would only create a file, when the model knows the file. */
    toEdit({ tool, input }: Call, act: AnyAction | undefined, roots: readonly string[]): Call | undefined {
      const parsed = act?.whenKnown && act.input.safeParse(input);
      const hash = parsed?.success ? hashOf(parsed.data["uri"], roots) : undefined;
      const edit = hash === undefined ? undefined : act?.whenKnown?.(parsed?.data, hash);
      return edit && { tool, ...edit };
    },
    withBase(call: Call, act: AnyAction | undefined, roots: readonly string[]): Call {
      const { data: input } = Fields.safeParse(call.input);
      if (!act || !input || !takesBase(act)) return call;
      if (input["base_hash"] !== undefined || input["files"] !== undefined) return call;
      const base_hash = hashOf(input["uri"], roots);
      return base_hash === undefined ? call : { ...call, input: { ...input, base_hash } };
    },
    /**
     * The refused call with its missing base hashes: the known ones, or the present ones where every change quotes the
     * text that it replaces. undefined when one stays unknown.
     */
    withBases(call: Call, { error }: Envelope): Call | undefined {
      const { data: input } = Fields.safeParse(call.input);
      const { data: missing } = Missing.safeParse(error?.code === "PRECONDITION_REQUIRED" && error.details);
      if (!input || !missing || input["base_hash"] !== undefined) return undefined;
      const bases = missing.uris.flatMap((uri, at) => {
        const base_hash = hashes.get(uri) ?? (missing.quotes_text ? missing.hashes[at] : undefined);
        return base_hash === undefined ? [] : [{ uri, base_hash }];
      });
      if (bases.length < missing.uris.length) return undefined;
      const given = Array.isArray(input["files"]) ? input["files"] : [];
      return { ...call, input: { ...input, files: [...given, ...bases] } };
    },
  };
}

/** An action that runs elsewhere has its schema as JSON. */
const takesBase = ({ input }: AnyAction): boolean =>
  Object.hasOwn(input.shape, "base_hash") || Object.hasOwn(Object(input.meta()?.["properties"]), "base_hash");

function toFileUri(uri: string, root: string): string {
  if (/^[a-z][a-z0-9+.-]+:/i.test(uri)) return uri;
  const path = encodeURI(uri.replace(/^~(?=\/)/, homedir())).replaceAll(/[?#]/g, encodeURIComponent);
  return new URL(path, `${root.replace(/\/$/, "")}/`).href;
}
