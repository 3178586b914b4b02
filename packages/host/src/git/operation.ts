import { existsSync } from "node:fs";
import { toNative } from "../path.ts";
import { type Places, readHead } from "./repository.ts";

/** The operation in progress. */
export interface Operation {
  readonly kind: "merge" | "rebase" | "am" | "cherry-pick" | "revert" | "bisect";
  /** The commit that is brought in. */
  readonly commit?: string;
  /** The branch that a rebase or bisect goes back to. */
  readonly branch?: string;
  readonly step?: number;
  readonly steps?: number;
}

/** Read from the same files that git uses. */
export function findOperation({ gitDir }: Places): Operation | null {
  const has = (name: string) => existsSync(toNative(`${gitDir}/${name}`));
  const read = (name: string) => readHead(`${gitDir}/${name}`).split("\n", 1)[0]?.trim() || undefined;
  const commitOf = (name: string) => {
    const commit = read(name);
    return commit === undefined ? {} : { commit };
  };
  if (has("rebase-merge"))
    return {
      kind: "rebase",
      ...commitOf("rebase-merge/stopped-sha"),
      ...branchOf(read("rebase-merge/head-name")),
      ...stepsOf(read("rebase-merge/msgnum"), read("rebase-merge/end")),
    };
  if (has("rebase-apply"))
    return {
      kind: has("rebase-apply/applying") ? "am" : "rebase",
      ...branchOf(read("rebase-apply/head-name")),
      ...stepsOf(read("rebase-apply/next"), read("rebase-apply/last")),
    };
  if (has("MERGE_HEAD")) return { kind: "merge", ...commitOf("MERGE_HEAD") };
  if (has("CHERRY_PICK_HEAD")) return { kind: "cherry-pick", ...commitOf("CHERRY_PICK_HEAD") };
  if (has("REVERT_HEAD")) return { kind: "revert", ...commitOf("REVERT_HEAD") };
  if (has("BISECT_LOG")) return { kind: "bisect", ...branchOf(read("BISECT_START")) };
  return null;
}

function branchOf(name: string | undefined): { branch?: string } {
  if (name === undefined || name === "detached HEAD") return {};
  return { branch: name.replace(/^refs\/heads\//, "") };
}

function stepsOf(step: string | undefined, steps: string | undefined): { step?: number; steps?: number } {
  const numbers = { step: Number(step), steps: Number(steps) };
  return Number.isInteger(numbers.step) && Number.isInteger(numbers.steps) ? numbers : {};
}
