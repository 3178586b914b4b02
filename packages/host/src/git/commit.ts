import { ToolError } from "@octant/core";
import { splitNul } from "../files/nul-list.ts";
import { isWithin, type Path, pathToUri, toBytes } from "../path.ts";
import { lstatOf } from "../sandbox/tree.ts";
import { findHead } from "./commits.ts";
import type { Repository } from "./git.ts";
import { findOperation } from "./operation.ts";
import { withOwnIndex } from "./own-index.ts";

export interface CommitOptions {
  /** Absent: the message of the commit that is amended. */
  readonly message?: string;
  /** Files and folders on disk; absent: the staged changes. */
  readonly files?: readonly Path[];
  readonly amend: boolean;
}

/** Commits and returns the hash. With files, other staged changes stay staged. */
export async function makeCommit(repository: Repository, options: CommitOptions): Promise<string> {
  const { files } = options;
  if (files === undefined) await commitStaged(repository, options);
  else await commitFiles(repository, files, options);
  const hash = await findHead(repository);
  if (hash === undefined) throw new Error("git made a commit, but HEAD has none");
  return hash;
}

async function commitStaged(repository: Repository, options: CommitOptions): Promise<void> {
  const { folder, top } = repository;
  if (folder !== top) await checkStagedInside(repository);
  await repository.checkDenied(() => listStaged(repository));
  await runCommit(repository, options, []);
}

/**
 * On a copy of the index under the index's lock: a file that git does not know yet has to be added first, and if the
 * commit fails nothing may have been.
 */
function commitFiles(repository: Repository, files: readonly Path[], options: CommitOptions): Promise<void> {
  const paths = files.map((path) => ({
    path,
    name: repository.toName(path),
    isThere: lstatOf(path) !== undefined,
  }));
  return withOwnIndex(repository, async ({ indexFile, writeFile }) => {
    for (const { path, name } of paths.filter((one) => !one.isThere))
      await checkKnown(repository, path, name);
    const there = paths.filter((one) => one.isThere);
    if (there.length > 0) {
      const list = writeFile("added", toList(there));
      await repository.run(["add", `--pathspec-from-file=${list}`, "--pathspec-file-nul"], {
        indexFile,
      });
    }
    // Concluding a merge commits everything that it changed.
    const kind = findOperation(repository)?.kind;
    const how = kind === undefined || kind === "bisect" ? "--only" : "--include";
    await repository.checkDenied(async () => {
      const staged = await listStaged(repository, indexFile);
      return how === "--only" ? staged.filter((one) => files.some((file) => isWithin(file, one))) : staged;
    });
    const list = writeFile("committed", toList(paths));
    const args = [how, `--pathspec-from-file=${list}`, "--pathspec-file-nul"];
    await runCommit(repository, options, args, indexFile);
  });
}

const toList = (paths: readonly { readonly name: Path }[]): Buffer =>
  Buffer.concat(paths.flatMap(({ name }) => [toBytes(name), Buffer.of(0)]));

async function runCommit(
  repository: Repository,
  { message, amend }: CommitOptions,
  files: readonly string[],
  indexFile?: Path,
): Promise<void> {
  const args = [
    "commit",
    "--quiet",
    "--no-gpg-sign",
    "--no-status",
    "--cleanup=verbatim",
    ...(repository.runsHooks ? [] : ["--no-verify"]),
    ...(amend ? ["--amend"] : []),
    ...(message === undefined ? ["--no-edit"] : ["--file=-"]),
    ...files,
  ];
  const input = Buffer.from(message === undefined ? "" : `${message}\n`);
  const { code, stderr } = await repository.run(args, { input, indexFile, codes: [0, 1, 128] });
  if (code === 0) return;
  // Exit code 1 without output means that there is nothing to commit.
  if (code === 1 && stderr.trim() === "") throw nothingToCommit(files.length > 0);
  throw repository.failure(code, stderr);
}

const nothingToCommit = (named: boolean) =>
  new ToolError(
    "VCS_ERROR",
    named
      ? "the named files are as the last commit has them, so there is nothing to commit; vcs.status shows what changed"
      : 'nothing is staged; name the files to commit, or ["."] for all that changed',
    { exit_code: 1 },
  );

/** A missing file can be committed as deleted if it was tracked. */
async function checkKnown(repository: Repository, path: Path, name: Path): Promise<void> {
  const head = await findHead(repository);
  const args = ["ls-files", "-z", ...(head === undefined ? [] : [`--with-tree=${head}`]), "--", name];
  const { stdout } = await repository.run(args);
  if (stdout.length > 0) return;
  const uri = pathToUri(path);
  throw new ToolError(
    "NOT_FOUND",
    `${uri} is not there, and git does not track it; vcs.status shows what changed`,
    { uri },
  );
}

async function checkStagedInside(repository: Repository): Promise<void> {
  const { folder } = repository;
  if ((await listStaged(repository)).every((path) => isWithin(folder, path))) return;
  const message = "files outside the workspace are staged too; name the files to commit";
  throw new ToolError("OUTSIDE_WORKSPACE", message, { roots: [pathToUri(folder)] });
}

/** Files that differ between the last commit and the index. */
async function listStaged({ run, top }: Repository, indexFile?: Path): Promise<readonly Path[]> {
  const args = [
    "diff",
    "--cached",
    "--name-only",
    "-z",
    "--no-relative",
    "--no-renames",
    "--no-ext-diff",
    "--",
  ];
  const { stdout } = await run(args, { ...(indexFile !== undefined && { indexFile }) });
  return splitNul(stdout).map((name) => `${top === "/" ? "" : top}/${name}`);
}
