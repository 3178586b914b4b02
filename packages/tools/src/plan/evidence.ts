import { RunId, ToolError } from "@octant/core";
import { findCommit, type Git } from "@octant/host";
import { z } from "zod";
import type { Runs } from "../test/runs.ts";
import { readCommit } from "../vcs/commit.ts";

const MAX_REF_CHARS = 500;

/** Evidence as given by the caller. */
export const EvidenceInput = z.strictObject({
  kind: z.enum(["test", "commit", "note"]),
  ref: z.string().min(1).max(MAX_REF_CHARS).describe("run_id of test.run, a commit, or text"),
});

/** The same after lookup: `result` comes from the run or the commit, and is absent for a note. */
export const Evidence = z.object({
  kind: EvidenceInput.shape.kind,
  ref: z.string(),
  result: z.string().optional(),
});
export type Evidence = z.output<typeof Evidence>;

export interface EvidenceSources {
  readonly runs: Runs;
  readonly git: Git;
}

/** Looks up the evidence; NOT_FOUND for an unknown run or commit. */
export async function toEvidence(
  { kind, ref }: z.output<typeof EvidenceInput>,
  { runs, git }: EvidenceSources,
  owner: string,
  signal: AbortSignal,
): Promise<Evidence> {
  if (kind === "note") return { kind, ref };
  if (kind === "commit") {
    const repository = git.open(undefined, signal);
    const hash = await findCommit(repository, ref);
    const { message } = await readCommit(repository, hash);
    return { kind, ref: hash, result: message.split("\n", 1)[0] ?? "" };
  }
  if (!RunId.safeParse(ref).success)
    throw new ToolError("NOT_FOUND", `'${ref}' is not a run_id; test.run answers with one`, { id: ref });
  const { status, pass, fail, skip } = runs.get(owner, ref).summary;
  return { kind, ref, result: `${status}: ${pass} passed, ${fail} failed, ${skip} skipped` };
}
