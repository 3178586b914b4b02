import type { Ref, ToolError, Uri } from "@octant/core";
import type { Blobs } from "../blobs/blobs.ts";
import type { Confinement } from "../confinement.ts";
import type { Edits } from "../edits/edits.ts";
import { readExisting } from "../edits/existing-file.ts";
import { findPlace } from "../edits/new-place.ts";
import type { FileReport } from "../edits/plan-patch.ts";
import { checkWritable } from "../edits/protected-paths.ts";
import { patchFailed } from "../patch/change.ts";
import { parsePatch } from "../patch/index.ts";
import { type Path, pathToUri } from "../path.ts";
import { patchPrefix } from "./diff.ts";
import { entryAt } from "./entry.ts";
import type { Repository } from "./git.ts";
import { checkTarget, makeLink, removeLink } from "./links.ts";
import { splitNul } from "./nul-list.ts";
import { type LinkChange, type SplitPatch, splitPatch } from "./split-patch.ts";

/** Where a patch goes: into the files, into the index too, or only there. */
export type ApplyTo = "files" | "both" | "index";

export interface ApplyOptions {
  readonly workspace: { readonly confinement: Confinement; readonly edits: Edits; readonly blobs: Blobs };
  /** A git-style patch, or the ref of one. Names start at the first root. */
  readonly patch: string;
  readonly to: ApplyTo;
  readonly signal?: AbortSignal;
}

export interface AppliedPatch {
  readonly files: readonly FileReport[];
  readonly links: readonly Uri[];
  /** In the index only: what commit a submodule is at is not a file's content. */
  readonly submodules: readonly Uri[];
  /** Takes the changes of files back, not those of links. */
  readonly undo: Ref | null;
}

/** Applies all of a patch or nothing. What the lines around a change say is what must be there, as with `git apply`. */
export async function applyPatch(repository: Repository, options: ApplyOptions): Promise<AppliedPatch> {
  const { workspace, to, signal } = options;
  const { confinement } = workspace;
  const at = (name: Path): Path => toPath(confinement, name);
  const text = readPatch(workspace.blobs, options.patch);
  const parts = splitPatch(text, (name) => kindAt(at(name)));
  const paths = checkPaths(repository, parts, at, confinement, to);
  if (to !== "files") await checkIndex(repository, text, confinement, signal);

  const undo = createUndo();
  try {
    if (to === "index") await runApply(repository, text, confinement, [], signal);
    const applied =
      to === "index" ? { files: [], undo: null } : await applyToFiles(workspace, parts, at, undo, signal);
    if (to === "both") await runApply(repository, text, confinement, [], signal);
    return { ...applied, links: paths.links.map(pathToUri), submodules: paths.submodules.map(pathToUri) };
  } catch (cause) {
    await undo.run();
    throw cause;
  }
}

const REF = /^blob:(sha256:[0-9a-f]{64})$/;

function readPatch(blobs: Blobs, patch: string): string {
  const hash = REF.exec(patch.trim())?.[1];
  return hash === undefined ? patch : blobs.get(hash).toString();
}

/** As fs.apply_patch takes names: from the first root, unless they are absolute. */
const toPath = (confinement: Confinement, name: Path): Path =>
  confinement.toPath(pathToUri(name.startsWith("/") ? name : `${confinement.roots[0]}/${name}`));

function kindAt(path: Path) {
  const stat = entryAt(path);
  if (!stat) return null;
  return stat.isSymbolicLink() ? "link" : stat.isDirectory() ? "folder" : "file";
}

/** What the index gets is written to the disk by a later checkout, so the same rules hold there. */
function checkPaths(
  repository: Repository,
  { files, links, submodules }: SplitPatch,
  at: (name: Path) => Path,
  confinement: Confinement,
  to: ApplyTo,
): { links: Path[]; submodules: Path[] } {
  const named = {
    links: links.flatMap((link) => [link.old, link.new].flatMap((side) => (side ? [at(side.name)] : []))),
    submodules: submodules.map(at),
  };
  const changed = (files.trim() === "" ? [] : parsePatch(files)).flatMap((change) => [
    at(change.path),
    ...(change.kind === "update" && change.newPath !== undefined ? [at(change.newPath)] : []),
  ]);
  for (const path of [...changed, ...named.links, ...named.submodules]) {
    checkWritable(confinement.roots, path);
    if (findPlace(confinement, path).path !== path) throw throughLink(path);
    if (to !== "files") repository.toName(path);
  }
  for (const path of changed)
    if (kindAt(path) === "link" && !named.links.includes(path)) throw throughLink(path);
  for (const { new: made } of links) if (made?.target) checkTarget(confinement, at(made.name), made.target);
  return { links: [...new Set(named.links)], submodules: [...new Set(named.submodules)] };
}

function throughLink(path: Path): ToolError {
  const uri = pathToUri(path);
  return patchFailed(`${uri} leads through a link, and a patch is about files where they are`, { uri });
}

async function applyToFiles(
  { confinement, edits }: ApplyOptions["workspace"],
  { files, links }: SplitPatch,
  at: (name: Path) => Path,
  undo: Undo,
  signal?: AbortSignal,
): Promise<Pick<AppliedPatch, "files" | "undo">> {
  // First the links that go, then the files, then the links that come: each may take the other's place.
  const targets = links.map((link) => takeAway(confinement, link, at, undo));
  const done =
    files.trim() === "" ? undefined : await applyToPlainFiles(confinement, edits, files, at, signal);
  if (done?.undo) {
    const patch = done.undo;
    undo.push(() => edits.apply({ patch }));
  }
  for (const [n, { new: made }] of links.entries()) {
    const target = made && (made.target ?? targets[n]);
    if (made && target) undo.push(makeLink(confinement, at(made.name), target));
  }
  return { files: done?.files ?? [], undo: done?.undo ?? null };
}

function takeAway(confinement: Confinement, { old }: LinkChange, at: (name: Path) => Path, undo: Undo) {
  if (!old) return undefined;
  const removed = removeLink(confinement, at(old.name), old.target);
  undo.push(removed.undo);
  return removed.target;
}

/** The file as it is now is the base; the engine refuses when it changes before its turn comes. */
function applyToPlainFiles(
  confinement: Confinement,
  edits: Edits,
  patch: string,
  at: (name: Path) => Path,
  signal?: AbortSignal,
) {
  const bases = parsePatch(patch)
    .filter(({ kind }) => kind !== "create")
    .map(({ path }) => {
      const asked = at(path);
      return { uri: pathToUri(asked), base_hash: readExisting(confinement, asked).hash };
    });
  return edits.apply({ patch, files: bases }, signal);
}

/** Whether it fits, and whether git reads the same names in it as we do. */
async function checkIndex(
  repository: Repository,
  patch: string,
  confinement: Confinement,
  signal?: AbortSignal,
): Promise<void> {
  const stdout = await runApply(repository, patch, confinement, ["--check", "--numstat", "-z"], signal);
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
  signal?: AbortSignal,
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
    signal,
    codes: [0, 1, 128],
  });
  if (code === 0) return stdout;
  throw patchFailed(
    `the patch does not fit the index, so nothing was changed. ${repository.failure(code, stderr).message}`,
  );
}

interface Undo {
  push(step: () => unknown): void;
  run(): Promise<void>;
}

function createUndo(): Undo {
  const steps: (() => unknown)[] = [];
  return {
    push: (step) => void steps.push(step),
    async run() {
      while (steps.length > 0) await steps.pop()!();
    },
  };
}
