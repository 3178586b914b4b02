import { ToolError } from "@octant/core";
import { findCommit, findHead } from "./commits.ts";
import type { Repository } from "./git.ts";

const FIELDS = [
  "%(refname)",
  "%(objectname)",
  "%(HEAD)",
  "%(upstream:short)",
  "%(upstream:track,nobracket)",
  "%(committerdate:iso-strict)",
  "%(contents:subject)",
  "%(symref)",
] as const;
export const NAME_AND_HASH = ["%(refname)", "%(objectname)"] as const;

/** One row of fields for each ref. */
export async function listRefs(
  repository: Repository,
  fields: readonly string[],
  options: readonly string[],
): Promise<string[][]> {
  const args = ["for-each-ref", `--format=${fields.join("%00")}`, ...options];
  const { stdout } = await repository.run(args);
  const lines = stdout.toString().split("\n");
  return lines.filter((line) => line !== "").map((line) => line.split("\0"));
}

/** Sorted by name, own branches first. */
export async function listBranches(repository: Repository) {
  const rows = await listRefs(repository, FIELDS, ["refs/heads", "refs/remotes"]);
  return rows.filter((fields) => fields.at(-1) === "").map(toBranch);
}

function toBranch([
  ref = "",
  hash = "",
  mark,
  upstream = "",
  track = "",
  date = "",
  subject = "",
]: readonly string[]) {
  const count = (word: string) => Number(new RegExp(`${word} (\\d+)`).exec(track)?.[1] ?? 0);
  return {
    name: ref.replace(/^refs\/(heads|remotes)\//, ""),
    hash,
    current: mark === "*",
    /** Whether it is a remote's, as it was when last fetched. */
    remote: ref.startsWith("refs/remotes/"),
    upstream: upstream === "" ? null : upstream,
    ahead: count("ahead"),
    behind: count("behind"),
    /** Whether its upstream no longer exists. */
    gone: track === "gone",
    date,
    subject,
  };
}

/** The names of branches and tags as people type them, newest first. */
export async function listRefNames(repository: Repository): Promise<string[]> {
  const options = ["--sort=-creatordate", "refs/heads", "refs/tags", "refs/remotes"];
  const rows = await listRefs(repository, ["%(symref)", "%(refname)"], options);
  return rows
    .filter(([target]) => target === "")
    .map(([, ref = ""]) => ref.replace(/^refs\/(heads|tags|remotes)\//, ""));
}

/** Returns the commit that the new branch is at. */
export async function createBranch(
  repository: Repository,
  name: string,
  start: string | undefined,
): Promise<string> {
  await checkBranchName(repository, name);
  const hash = start === undefined ? await findHead(repository) : await findCommit(repository, start);
  if (hash === undefined) throw noCommits();
  if (await branchCommit(repository, name)) throw branchExists(name);
  await repository.run(["branch", "--no-track", "--", name, hash]);
  return hash;
}

/** Refuses to lose commits that are on no other branch; returns the commit that the branch was at. */
export async function deleteBranch(repository: Repository, name: string, force: boolean): Promise<string> {
  await checkBranchName(repository, name);
  const hash = await branchCommit(repository, name);
  if (hash === undefined)
    throw new ToolError("NOT_FOUND", `there is no branch '${name}'; op: list shows the branches`, {
      id: name,
    });
  if (!force) {
    const lost = await commitsOnlyOn(repository, name);
    if (lost.length > 0) throw wouldLoseCommits(name, lost);
  }
  await repository.run(["branch", "-D", "--", name]);
  return hash;
}

const MAX_LOST = 20;

/** Commits that no other branch, no tag and no remote has; the first of them. */
async function commitsOnlyOn(repository: Repository, name: string) {
  const ref = `refs/heads/${name}`;
  const others = [`--exclude=${name}`, "--branches", "--tags", "--remotes"];
  const args = [
    "log",
    "-z",
    "--format=%H%x00%s",
    `--max-count=${MAX_LOST}`,
    "--no-show-signature",
    ref,
    "--not",
  ];
  const head = await detachedHead(repository);
  const { stdout } = await repository.run([...args, ...others, ...head, "--"]);
  const fields = stdout.toString().split("\0");
  return fields.flatMap((hash, n) => (n % 2 === 0 && hash ? [{ hash, subject: fields[n + 1] ?? "" }] : []));
}

/** A checked-out branch does not protect its own commits. */
async function detachedHead(repository: Repository): Promise<string[]> {
  const { code } = await repository.run(["symbolic-ref", "--quiet", "HEAD"], { codes: [0, 1] });
  return code === 1 ? ["HEAD"] : [];
}

/** The commit of a local branch; undefined when it does not exist. */
export async function branchCommit(repository: Repository, name: string): Promise<string | undefined> {
  const full = `refs/heads/${name}`;
  const rows = await listRefs(repository, NAME_AND_HASH, ["--", full]);
  return rows.find(([ref]) => ref === full)?.[1];
}

export async function checkBranchName(repository: Repository, name: string): Promise<void> {
  const { code } = await repository.run(["check-ref-format", `refs/heads/${name}`], {
    codes: [0, 1],
  });
  if (code === 0 && !name.startsWith("-") && name !== "HEAD") return;
  const message = `'${name}' cannot be the name of a branch`;
  throw new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "name", message }] });
}

export const branchExists = (name: string) =>
  new ToolError("ALREADY_EXISTS", `branch '${name}' already exists; vcs.checkout switches to it`, {
    uri: name,
  });

const noCommits = () =>
  new ToolError("VCS_ERROR", "there is no commit yet, so nothing to start from; make one with vcs.commit", {
    exit_code: null,
  });

const wouldLoseCommits = (name: string, commits: readonly { hash: string; subject: string }[]) =>
  new ToolError(
    "CONFIRM_REQUIRED",
    `'${name}' has ${commits.length === MAX_LOST ? "at least " : ""}${commits.length} commits that no other branch, tag or remote has; force: true deletes it anyway`,
    { would: { lose_commits: commits } },
  );
