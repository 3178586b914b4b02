export { type ApplyTo, applyPatch } from "./apply.ts";
export { type BlameGroup, readBlame } from "./blame.ts";
export { createBranch, deleteBranch, listBranches, listRefNames } from "./branches.ts";
export { switchTo } from "./checkout.ts";
export { makeCommit } from "./commit.ts";
export { emptyTree, findCommit, findHead } from "./commits.ts";
export { makeDiff, readDiffStat } from "./diff.ts";
export { createGit, type Git, type Repository } from "./git.ts";
export { type Commit, isShallow, readLog } from "./log.ts";

export type { GitAllowance } from "./overrides.ts";
export type { ChangedFile, FileDiff } from "./parse-diff.ts";
export type { StatusEntry } from "./parse-status.ts";
export { findObject, readBlob, readFileAt } from "./show.ts";
export { readStatus, type Status } from "./status.ts";
