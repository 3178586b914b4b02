import { createReadStream, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { newHandle, ToolError } from "@octant/core";
import { collectOutput, MAX_OUTPUT_BYTES } from "../containers/collect-output.ts";
import type { ExecProcess } from "../engines/engine.ts";
import { stateOf } from "../install.ts";
import type { Project } from "../projects/project.ts";
import type { Repositories } from "../workspaces/repositories.ts";
import { refOf, WORKSPACES_IN_CONTAINER, type Workspace } from "../workspaces/workspaces.ts";

export interface WorkspaceCopiesOptions {
  readonly repositories: Repositories;
  /** For bundles on their way. */
  readonly folder: string;
}

/** Runs a command in the container of a place. */
export type RunInPlace = (argv: readonly string[]) => Promise<ExecProcess>;

export type WorkspaceCopies = ReturnType<typeof createWorkspaceCopies>;

const snapshotOf = ({ id }: Workspace) => `refs/octant/snapshots/${id}`;
const stateRefOf = ({ id }: Workspace) => `refs/octant/states/${id}`;
const pathOf = ({ id }: Workspace) => `${WORKSPACES_IN_CONTAINER}/${id}`;

/** Makes the workspace of a bundle on stdin: its branch, files that no commit of the branch has, and its tools' state. */
const SEED = `set -e
dir=$1 branch=$2 id=$3 snapshot=$4 state=$5
rm -rf "$dir" "$dir.bundle"
cat > "$dir.bundle"
git init -q --template= -b octant-seed "$dir"
cd "$dir"
git fetch -q --no-tags "$dir.bundle" '+refs/heads/*:refs/heads/*' "+refs/octant/workspaces/$id:refs/heads/$branch"
if [ "$snapshot" = yes ]; then git fetch -q --no-tags "$dir.bundle" "+refs/octant/snapshots/$id:refs/octant/snapshot"; fi
git checkout -q "$branch"
if [ "$snapshot" = yes ]; then git read-tree -u --reset refs/octant/snapshot; git reset -q "$branch"; fi
git config user.name Octant
git config user.email agent@octant.invalid
if [ -n "$state" ]; then
  git fetch -q --no-tags "$dir.bundle" "+refs/octant/states/$id:refs/octant/state"
  umask 077
  rm -rf "$state"
  mkdir -p "$state"
  cd "$state"
  GIT_INDEX_FILE="$dir/.git/octant-state" git --git-dir="$dir/.git" --work-tree=. read-tree -u --reset refs/octant/state
fi
rm "$dir.bundle"`;

/** Writes all files that git does not ignore as a commit on top of the branch, unless it is the last one again. */
const SAVE = `set -e
cd "$1"
branch=$2 base=$3 last=$4
# The clock of the host may be wrong.
export GIT_AUTHOR_DATE=$5 GIT_COMMITTER_DATE=$5
export GIT_INDEX_FILE=.git/octant-index
git add -A
tree=$(git write-tree)
head=$(git rev-parse "refs/heads/$branch")
if git cat-file -e "$last^{commit}" 2>/dev/null; then
  if [ "$(git rev-parse "$last^{tree}")" = "$tree" ] && [ "$(git rev-parse "$last^")" = "$head" ]; then exit 3; fi
else last=$base; fi
git update-ref refs/octant/snapshot "$(git commit-tree "$tree" -p "$head" -m 'Files of a session')"
exec git bundle create --quiet - "^$last" refs/octant/snapshot`;
/** Writes the state of the tools, none of which runs, as a commit; the search index is made again where it is needed. */
const SAVE_STATE = `set -e
git=$1/.git state=$2
export GIT_AUTHOR_DATE=$3 GIT_COMMITTER_DATE=$3 GIT_DIR="$git" GIT_INDEX_FILE="$git/octant-state"
cd "$state" 2>/dev/null || exit 3
git --work-tree=. -c core.autocrlf=false -c core.safecrlf=false add -A -f -- . ':!octant/*/search'
git update-ref refs/octant/state "$(git commit-tree "$(git write-tree)" -m 'State of tools')"
exec git bundle create --quiet - refs/octant/state`;
const NOTHING_NEW = 3;
const MAX_REASON_CHARS = 1_000;

/** Brings workspaces to hosts and back: as bundles, which git in the container and git of the hub read. */
export function createWorkspaceCopies({ repositories, folder }: WorkspaceCopiesOptions) {
  const commitOf = async (workspace: Workspace, ref: string): Promise<string | undefined> => {
    const git = repositories.gitOf(workspace.project_id);
    const { code, stdout } = await git(["rev-parse", "--verify", "--quiet", ref], { also: [1] });
    return code === 0 ? stdout.trim() : undefined;
  };
  const lastOf = (workspace: Workspace) => commitOf(workspace, snapshotOf(workspace));
  /** Brings what a command in the container printed as a bundle into the hub's repository. */
  const fetch = async (project: Project, stdout: Buffer, refspec: string): Promise<void> => {
    const file = bundleFile();
    try {
      await writeFile(file, stdout, { mode: 0o600 });
      await repositories.gitOf(project.id)(["fetch", "--quiet", "--no-tags", file, refspec]);
    } finally {
      rmSync(file, { force: true });
    }
  };
  const forget = (workspace: Workspace, ref: string) =>
    repositories.gitOf(workspace.project_id)(["update-ref", "-d", ref]);
  const bundleFile = () => join(folder, `${newHandle("bundle", Date.now())}.bundle`);
  const finish = async (
    start: () => Promise<ExecProcess>,
    input?: Readable,
    also: readonly number[] = [],
  ) => {
    const { code, stdout, stderr, isTooLarge } = await collectOutput(
      start,
      MAX_OUTPUT_BYTES,
      undefined,
      input,
    );
    if (isTooLarge)
      throw new ToolError("TOO_LARGE", `the workspace's changes exceed ${MAX_OUTPUT_BYTES} bytes`, {
        limit: MAX_OUTPUT_BYTES,
      });
    if (code === 0 || (code !== null && also.includes(code))) return { code, stdout };
    const why = stderr.toString("utf8").trim().slice(-MAX_REASON_CHARS);
    throw new ToolError("VCS_ERROR", `the workspace cannot be copied to or from its host: ${why}`, {
      exit_code: code,
    });
  };
  return {
    /** Fills the place with the workspace as it was saved last. */
    async seed(project: Project, workspace: Workspace, run: RunInPlace): Promise<void> {
      const git = repositories.gitOf(project.id);
      const snapshot = await lastOf(workspace);
      // The state of a place that was lost is older than the files that were saved.
      const hasState =
        workspace.lease_id === undefined && (await commitOf(workspace, stateRefOf(workspace))) !== undefined;
      const main = `refs/heads/${await repositories.branchOf(project)}`;
      const file = bundleFile();
      const { branch, id } = workspace;
      try {
        const refs = [
          ...[main, refOf(workspace)],
          ...(snapshot === undefined ? [] : [snapshotOf(workspace)]),
          ...(hasState ? [stateRefOf(workspace)] : []),
        ];
        await git(["bundle", "create", "--quiet", file, ...refs]);
        const argv = [
          "sh",
          "-c",
          SEED,
          "sh",
          pathOf(workspace),
          branch,
          id,
          snapshot === undefined ? "no" : "yes",
          hasState ? stateOf(pathOf(workspace)) : "",
        ];
        await finish(() => run(argv), createReadStream(file));
      } finally {
        rmSync(file, { force: true });
      }
    },
    /** Copies what is new in the place to the hub's repository. */
    async save(project: Project, workspace: Workspace, run: RunInPlace): Promise<void> {
      const last = (await lastOf(workspace)) ?? "";
      const { branch, base } = workspace;
      const now = new Date().toISOString();
      const argv = ["sh", "-c", SAVE, "sh", pathOf(workspace), branch, base, last, now];
      const { code, stdout } = await finish(() => run(argv), undefined, [NOTHING_NEW]);
      // A save before may have been cut off in between.
      if (code === NOTHING_NEW) return repositories.keep(project.id);
      await fetch(project, stdout, `+refs/octant/snapshot:${snapshotOf(workspace)}`);
      const git = repositories.gitOf(project.id);
      await git(["update-ref", refOf(workspace), `${snapshotOf(workspace)}^`]);
      await repositories.keep(project.id);
    },
    /** Copies what the tools store beside a workspace that nobody uses, so that its next place has it. */
    async saveState(project: Project, workspace: Workspace, run: RunInPlace): Promise<void> {
      // The next place must not get the state of an earlier one.
      await forget(workspace, stateRefOf(workspace));
      const path = pathOf(workspace);
      const argv = ["sh", "-c", SAVE_STATE, "sh", path, stateOf(path), new Date().toISOString()];
      try {
        const { code, stdout } = await finish(() => run(argv), undefined, [NOTHING_NEW]);
        if (code !== NOTHING_NEW) await fetch(project, stdout, `+refs/octant/state:${stateRefOf(workspace)}`);
      } finally {
        await repositories.keep(project.id);
      }
    },
    /** When it was saved last; undefined when it never was. */
    async savedAt(workspace: Workspace): Promise<string | undefined> {
      if ((await lastOf(workspace)) === undefined) return undefined;
      const git = repositories.gitOf(workspace.project_id);
      return (await git(["log", "-1", "--format=%cI", snapshotOf(workspace)])).stdout.trim();
    },
    async remove(workspace: Workspace): Promise<void> {
      for (const ref of [snapshotOf(workspace), stateRefOf(workspace)]) await forget(workspace, ref);
    },
  };
}
