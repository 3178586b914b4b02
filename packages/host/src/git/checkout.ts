import { ToolError, type Uri } from "@octant/core";
import { splitNul } from "../files/nul-list.ts";
import { isWithin, type Path, pathToUri, uriToPath } from "../path.ts";
import { branchCommit, branchExists, checkBranchName, listRefs, NAME_AND_HASH } from "./branches.ts";
import { findCommit, findHead, tryFind } from "./commits.ts";
import type { Repository } from "./git.ts";
import { readStatus } from "./status.ts";

export interface CheckoutOptions {
  readonly ref: string;
  /** Creates a branch with this name at HEAD. */
  readonly create: boolean;
  /** Discards uncommitted changes that are in the way. */
  readonly force: boolean;
}

/** Switches to a branch, or to a commit with HEAD detached. Uncommitted changes are carried along, or the switch is refused. */
export async function switchTo(repository: Repository, options: CheckoutOptions): Promise<void> {
  const { ref, create, force } = options;
  const target = await findTarget(repository, ref, create);
  await checkInside(repository, target.commit);
  await checkChanged(repository, target.commit, force);
  const args = ["switch", "--quiet", "--no-progress", ...(force ? ["--force"] : []), ...target.args];
  const { code, stderr } = await repository.run(args, { codes: [0, 1, 128] });
  if (code === 0) return;
  const lost = force ? [] : await inTheWay(repository, target.commit);
  if (lost.length > 0) throw wouldLose(ref, lost);
  throw repository.failure(code, stderr);
}

async function findTarget(repository: Repository, ref: string, create: boolean) {
  if (create) {
    await checkBranchName(repository, ref);
    if (await branchCommit(repository, ref)) throw branchExists(ref);
    return { commit: await findHead(repository), args: ["--no-track", "--create", ref] };
  }
  const own = await branchCommit(repository, ref);
  if (own !== undefined) return { commit: own, args: ["--no-guess", ref] };
  const remote = await onlyRemote(repository, ref);
  if (remote !== undefined) return { commit: remote.hash, args: ["--track", "--create", ref, remote.name] };
  const commit = await findCommit(repository, ref);
  return { commit, args: ["--detach", commit] };
}

/** A branch that exists on exactly one remote and not locally; undefined if the name resolves to a commit. */
async function onlyRemote(repository: Repository, ref: string) {
  if ((await tryFind(repository, `${ref}^{commit}`)) !== undefined) return undefined;
  const rows = await listRefs(repository, NAME_AND_HASH, ["--", "refs/remotes"]);
  const found = rows.filter(([name = ""]) => name.replace(/^refs\/remotes\/[^/]+\//, "") === ref);
  const [name, hash] = found[0] ?? [];
  return found.length === 1 && name !== undefined && hash !== undefined
    ? { name: name.slice("refs/remotes/".length), hash }
    : undefined;
}

/** Where the workspace is only a part of the working tree, the rest is unchanged. */
async function checkInside(repository: Repository, commit: string | undefined): Promise<void> {
  const { top, folder } = repository;
  if (top === folder || commit === undefined) return;
  const outside = (await changedBy(repository, commit)).some((path) => !isWithin(folder, path));
  if (!outside) return;
  const message =
    "this would change files of the repository that are outside the workspace; serve its top folder as a root";
  throw new ToolError("OUTSIDE_WORKSPACE", message, { roots: [pathToUri(folder)] });
}

/** PERMISSION_DENIED when the switch would change a file that is denied to the call. */
async function checkChanged(repository: Repository, commit: string | undefined, force: boolean) {
  if (commit === undefined) return;
  await repository.checkDenied(async () => {
    const changed = await changedBy(repository, commit);
    if (!force) return changed;
    const { entries } = await readStatus(repository);
    return [...changed, ...entries.map(({ uri }) => uriToPath(uri, repository.top))];
  });
}

/** Files that differ between here and there. */
async function changedBy(repository: Repository, commit: string): Promise<Path[]> {
  const from = await findHead(repository);
  if (from === undefined) return [];
  const args = [
    "diff-tree",
    "-r",
    "-z",
    "--name-only",
    "--no-renames",
    "--ignore-submodules=none",
    from,
    commit,
  ];
  const { stdout } = await repository.run(args);
  return splitNul(stdout).map((name) => `${repository.top === "/" ? "" : repository.top}/${name}`);
}

/** Files that are changed here and differ there. */
async function inTheWay(repository: Repository, commit: string | undefined): Promise<Uri[]> {
  if (commit === undefined) return [];
  const { entries } = await readStatus(repository, { ignored: true, everyFile: true });
  const changed = new Set((await changedBy(repository, commit)).map(pathToUri));
  const touched = new Set(entries.flatMap(({ uri, renamed_from = uri }) => [uri, renamed_from]));
  return [...touched].filter((uri) => changed.has(uri)).slice(0, MAX_LOST);
}

const MAX_LOST = 100;

const wouldLose = (ref: string, lose_changes: readonly Uri[]) =>
  new ToolError(
    "CONFIRM_REQUIRED",
    `going to '${ref}' would overwrite ${lose_changes.length} files with changes that are not committed; commit them, or force: true throws them away`,
    { would: { lose_changes } },
  );
