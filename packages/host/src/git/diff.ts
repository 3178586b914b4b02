import { isUtf8 } from "node:buffer";
import { isWithin, type Path } from "../path.ts";
import { toBinaryPatches } from "./binary-patch.ts";
import type { Repository } from "./git.ts";
import { type FileDiff, parseDiff, parseStat } from "./parse-diff.ts";
import { quoteName, unquoteName } from "./quoted-name.ts";

export interface DiffRequest {
  /** Ids of commits or trees: none compares the index with the files, one with the files or the index, two each other. */
  readonly trees: readonly string[];
  readonly staged?: boolean;
  readonly path?: Path;
  /** The first root: names in the patch start there, as fs.apply_patch takes them. */
  readonly root: Path;
}

/** A git-style patch of each file that differs. */
export async function makeDiff(repository: Repository, request: DiffRequest): Promise<FileDiff[]> {
  const prefix = patchPrefix(repository, request.root);
  const files = await runDiff(repository, request, prefix);
  return withoutBytes(repository, files);
}

/** A patch is text, so content that is not UTF-8 becomes a binary patch. */
async function withoutBytes(repository: Repository, files: FileDiff[]): Promise<FileDiff[]> {
  const isText = ({ parts }: FileDiff) => parts.every((part) => isUtf8(part));
  const others = files.filter((file) => !isText(file));
  if (others.length === 0) return files;
  const asBinary = await toBinaryPatches(repository, others);
  return files.map((file) => asBinary[others.indexOf(file)] ?? file);
}

/** The path prefix for this repository's files in a patch. */
export function patchPrefix({ folder }: Repository, root: Path): Path {
  if (folder === root) return "";
  if (!isWithin(root, folder)) return `${folder}/`;
  return `${folder.slice(root === "/" ? 1 : root.length + 1)}/`;
}

async function runDiff(
  repository: Repository,
  { trees, staged = false, path }: DiffRequest,
  prefix: Path,
): Promise<FileDiff[]> {
  const args = [
    ...DIFF,
    `--src-prefix=a/${prefix}`,
    `--dst-prefix=b/${prefix}`,
    repository.top === repository.folder ? "--no-relative" : "--relative",
    // Against our own side, where a conflict would otherwise be a diff of three.
    ...(trees.length === 0 && !staged ? ["--ours"] : []),
    ...(staged ? ["--cached"] : []),
    ...trees,
    "--",
    path === undefined ? "." : repository.toName(path),
  ];
  const { stdout } = await repository.run(args);
  const files = parseDiff(stdout, repository.folder, prefix);
  return prefix === ""
    ? files
    : files.map((file) => ({ ...file, parts: file.parts.map((part) => prefixRename(part, prefix)) }));
}

/** git puts its prefixes everywhere but here. */
function prefixRename(patch: Buffer, prefix: Path): Buffer {
  const end = headerEnd(patch);
  const header = patch
    .toString("latin1", 0, end)
    .replace(
      /^((?:rename|copy) (?:from|to) )(.*)$/gm,
      (_, what: string, name: string) => what + quoteName(prefix + unquoteName(name)),
    );
  return Buffer.concat([Buffer.from(header, "latin1"), patch.subarray(end)]);
}

function headerEnd(patch: Buffer): number {
  const at = patch.indexOf("\n--- ");
  return at < 0 ? patch.length : at + 1;
}

/** The differences between two trees, without the patch. */
export async function readDiffStat(repository: Repository, trees: readonly [string, string]) {
  const relative = repository.top === repository.folder ? "--no-relative" : "--relative";
  const { stdout } = await repository.run([...STAT, relative, ...trees, "--", "."]);
  return parseStat(stdout, repository.folder);
}

const STAT = [
  "diff",
  "--raw",
  "--numstat",
  "-z",
  "--find-renames",
  "--no-color",
  "--no-ext-diff",
  "--no-textconv",
  "--ignore-submodules=dirty",
  "-O/dev/null",
] as const;

const DIFF = [
  ...STAT,
  "--patch",
  "--no-abbrev",
  "--full-index",
  "--binary",
  "--unified=3",
  "--inter-hunk-context=0",
  "--submodule=short",
] as const;
