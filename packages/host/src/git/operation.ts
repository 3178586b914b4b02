import { existsSync } from "node:fs";
import { toNative } from "../path.ts";
import { type Places, readSmallFile } from "./repository.ts";

/** The operation in progress, read from the same files that git uses. */
export function findOperation({ gitDir }: Places) {
  const has = (name: string) => existsSync(toNative(`${gitDir}/${name}`));
  const read = (name: string) => readSmallFile(`${gitDir}/${name}`).split("\n", 1)[0]?.trim() || undefined;
  if (has("rebase-merge"))
    return {
      kind: "rebase",
      commit: read("rebase-merge/stopped-sha"),
      branch: branchOf(read("rebase-merge/head-name")),
      ...stepsOf(read("rebase-merge/msgnum"), read("rebase-merge/end")),
    } as const;
  if (has("rebase-apply"))
    return {
      kind: has("rebase-apply/applying") ? "am" : "rebase",
      branch: branchOf(read("rebase-apply/head-name")),
      ...stepsOf(read("rebase-apply/next"), read("rebase-apply/last")),
    } as const;
  if (has("MERGE_HEAD")) return { kind: "merge", commit: read("MERGE_HEAD") } as const;
  if (has("CHERRY_PICK_HEAD")) return { kind: "cherry-pick", commit: read("CHERRY_PICK_HEAD") } as const;
  if (has("REVERT_HEAD")) return { kind: "revert", commit: read("REVERT_HEAD") } as const;
  if (has("BISECT_LOG")) return { kind: "bisect", branch: branchOf(read("BISECT_START")) } as const;
  return null;
}

const branchOf = (name: string | undefined) =>
  name === "detached HEAD" ? undefined : name?.replace(/^refs\/heads\//, "");

function stepsOf(step: string | undefined, steps: string | undefined) {
  const numbers = { step: Number(step), steps: Number(steps) };
  return Number.isInteger(numbers.step) && Number.isInteger(numbers.steps) ? numbers : {};
}
