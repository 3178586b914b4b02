import type { ToolError, Uri } from "@octant/core";
import type { Blobs } from "../blobs/blobs.ts";
import type { Confinement } from "../confinement.ts";
import type { Edits } from "../edits/edits.ts";
import { findPlace } from "../edits/new-place.ts";
import { checkTarget } from "../edits/plan-link.ts";
import { typeOf } from "../edits/plan-submodule.ts";
import { checkWritable } from "../edits/protected-paths.ts";
import { readExisting } from "../edits/read-before.ts";
import { splitNul } from "../files/nul-list.ts";
import type { EntryType, FileChange } from "../patch/change.ts";
import { patchFailed } from "../patch/change.ts";
import { parsePatch } from "../patch/parse.ts";
import { fromNative, type Path, pathToUri } from "../path.ts";
import { lstatOf } from "../sandbox/tree.ts";
import { patchPrefix } from "./diff.ts";
import type { Repository } from "./git.ts";

/** The target of a patch: the files, the files and the index, or only the index. */
export type ApplyTo = "files" | "both" | "index";

export interface ApplyOptions {
  readonly workspace: { readonly confinement: Confinement; readonly edits: Edits; readonly blobs: Blobs };
  /** A git-style patch, or the ref of one. Names start at the first root. */
  readonly patch: string;
  readonly to: ApplyTo;
}

/**
 * Applies a patch atomically. Context lines must match exactly, as with `git apply`. A submodule changes in the index
 * only: its commit is not file content. `undo` takes the changes of files and links back.
 */
export async function applyPatch(repository: Repository, options: ApplyOptions) {
  const { workspace, to } = options;
  const { confinement, edits } = workspace;
  const patch = readPatch(workspace.blobs, options.patch);
  const parts = parsePatch(patch).map((change) => toPart(confinement, change));
  for (const part of parts) checkPart(repository, confinement, part, to);
  if (to !== "files") await checkIndex(repository, patch, confinement);

  const others = { links: urisOf(parts, "link"), submodules: urisOf(parts, "submodule") };
  if (to === "index") {
    await runApply(repository, patch, confinement, []);
    return { files: [], undo: null, ...others };
  }
  const { files, undo } = await edits.apply({ patch, files: basesOf(confinement, parts) }, repository.signal);
  try {
    if (to === "both") await runApply(repository, patch, confinement, []);
  } catch (cause) {
    await edits.apply({ patch: undo! });
    throw cause;
  }
  return { files: files.filter(({ kind }) => kind === undefined), undo, ...others };
}

const REF = /^blob:(sha256:[0-9a-f]{64})$/;

function readPatch(blobs: Blobs, patch: string): string {
  const hash = REF.exec(patch.trim())?.[1];
  return hash === undefined ? patch : blobs.get(hash).toString();
}

interface Part {
  readonly change: FileChange;
  readonly type: EntryType;
  readonly path: Path;
  /** The same, unless it gets another name. */
  readonly newPath: Path;
}

function toPart(confinement: Confinement, change: FileChange): Part {
  const path = toPath(confinement, change.path);
  const newName = change.kind === "update" ? change.newPath : undefined;
  return {
    change,
    type: typeOf(confinement, change, path),
    path,
    newPath: newName === undefined ? path : toPath(confinement, newName),
  };
}

/** As fs.apply_patch takes names: from the first root, unless they are absolute. */
const toPath = (confinement: Confinement, name: Path): Path =>
  confinement.toPath(pathToUri(name.startsWith("/") ? name : `${confinement.roots[0]}/${name}`));

/** A later checkout writes the index to disk, so the same rules apply to it. */
function checkPart(repository: Repository, confinement: Confinement, part: Part, to: ApplyTo): void {
  const { change, type, path, newPath } = part;
  for (const place of [path, newPath]) {
    checkWritable(confinement.roots, place);
    if (findPlace(confinement, place).path !== place) throw throughLink(place);
    if (to !== "files") repository.toName(place);
  }
  if (type === "file" && change.kind !== "create" && lstatOf(path)?.isSymbolicLink()) throw throughLink(path);
  if (to === "index" && type === "link" && change.kind !== "delete") {
    const target = newTarget(change);
    if (target !== undefined) checkTarget(confinement, newPath, target);
  }
}

function throughLink(path: Path): ToolError {
  const uri = pathToUri(path);
  return patchFailed(`${uri} leads through a link, and a patch is about files where they are`, { uri });
}

/** Where a link will lead, as far as the patch says it: a rename that changes nothing does not. */
function newTarget({ edits }: FileChange): Path | undefined {
  if (edits.form === "binary" && edits.method === "literal") return fromNative(edits.data);
  if (edits.form !== "hunks") throw patchFailed("the patch has a link whose target it does not spell out");
  const lines = edits.hunks.flatMap((hunk) => hunk.lines).filter(({ op }) => op !== "-");
  return edits.hunks.length === 0 ? undefined : lines.map(({ text, eol }) => text + eol).join("");
}

const urisOf = (parts: readonly Part[], type: EntryType): Uri[] => {
  const paths = parts.filter((part) => part.type === type).flatMap(({ path, newPath }) => [path, newPath]);
  return [...new Set(paths)].map(pathToUri);
};

/** The current file is the base; the engine refuses when it changes before its turn. */
const basesOf = (confinement: Confinement, parts: readonly Part[]) =>
  parts
    .filter(({ type, change }) => type === "file" && change.kind !== "create")
    .map(({ path }) => ({ uri: pathToUri(path), base_hash: readExisting(confinement, path).hash }));

/** Whether it fits, and whether git reads the same names in it as we do. */
async function checkIndex(repository: Repository, patch: string, confinement: Confinement): Promise<void> {
  const stdout = await runApply(repository, patch, confinement, ["--check", "--numstat", "-z"]);
  for (const row of splitNul(stdout)) {
    const name = row.split("\t").slice(2).join("\t");
    const path = confinement.toPath(pathToUri(`${repository.top}/${name}`));
    repository.toName(path);
    checkWritable(confinement.roots, path);
  }
}

async function runApply(
  repository: Repository,
  patch: string,
  { roots }: Confinement,
  options: readonly string[],
): Promise<Buffer> {
  const { top, folder } = repository;
  const strip = `a/${patchPrefix(repository, roots[0]!)}`.split("/").length - 1;
  const args = [
    "apply",
    "--cached",
    "--whitespace=nowarn",
    "--no-ignore-whitespace",
    `-p${strip}`,
    ...(top === folder ? [] : [`--directory=${folder.slice(top === "/" ? 1 : top.length + 1)}`]),
    ...options,
    "-",
  ];
  const { code, stdout, stderr } = await repository.run(args, {
    input: Buffer.from(patch),
    codes: [0, 1, 128],
  });
  if (code === 0) return stdout;
  throw patchFailed(
    `the patch does not fit the index, so nothing was changed. ${repository.failure(code, stderr).message}`,
  );
}
