import { createHash } from "node:crypto";
import { lstatSync, readdirSync, type Stats } from "node:fs";
import { type Hash, ToolError, type Uri } from "@octant/core";
import { type Confinement, type FileKind, kindOf, splitPath } from "../confinement.ts";
import { createPacer } from "../files/pacer.ts";
import { comparePaths, fromNative, type Path, pathToUri } from "../path.ts";
import { toToolError } from "../system-error.ts";
import { keepsTree } from "./protected-paths.ts";

/** The entries at and below a path. */
export interface Survey {
  readonly kind: FileKind;
  readonly count: number;
  readonly bytes: number;
  /** The first few. */
  readonly uris: readonly Uri[];
  /** Changes when anything below is added, removed or written. */
  readonly fingerprint: Hash;
}

export interface Entry {
  readonly path: Path;
  readonly kind: FileKind;
  readonly stat: Stats;
}

const MAX_SHOWN = 20;

/** Surveys everything that would be removed with `path`, and refuses protected entries. */
export async function surveyRemoval(
  confinement: Confinement,
  path: Path,
  signal?: AbortSignal,
): Promise<Survey> {
  let kind: FileKind | undefined;
  let count = 0;
  let bytes = 0;
  const uris: Uri[] = [];
  const digest = createHash("sha256");
  for await (const entry of walk(confinement, path, signal)) {
    checkMayGo(path, entry.path);
    kind ??= entry.kind;
    count += 1;
    if (entry.kind === "file") bytes += entry.stat.size;
    if (uris.length < MAX_SHOWN) uris.push(pathToUri(entry.path));
    const version = entry.kind === "directory" ? "" : `${entry.stat.size} ${entry.stat.mtimeMs}`;
    digest.update(`${JSON.stringify(entry.path)} ${entry.kind} ${version}\n`);
  }
  return { kind: kind!, count, bytes, uris, fingerprint: `sha256:${digest.digest("hex")}` };
}

/** The entry itself and everything below it, folder by folder in the order of names; links are not followed. */
export async function* walk(
  confinement: Confinement,
  path: Path,
  signal?: AbortSignal,
): AsyncGenerator<Entry> {
  using top = confinement.openEntry(path);
  yield { path, kind: kindOf(top.stat), stat: top.stat };
  const folders = top.stat.isDirectory() ? [path] : [];
  const pacer = createPacer(signal);
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const below: Path[] = [];
    for (const entry of entriesOf(confinement, folder)) {
      yield entry;
      if (entry.kind === "directory") below.push(entry.path);
      if (pacer.due()) await pacer.pause();
    }
    folders.push(...below.reverse());
  }
}

function* entriesOf(confinement: Confinement, path: Path): Generator<Entry> {
  try {
    using folder = confinement.openFolder(path);
    const names = readdirSync(folder.at("."), { encoding: "buffer" }).map(fromNative).sort(comparePaths);
    for (const name of names) {
      const stat = lstatSync(folder.at(name), { throwIfNoEntry: false });
      if (stat) yield { path: `${path}/${name}`, kind: kindOf(stat), stat };
    }
  } catch (cause) {
    throw toToolError(cause, pathToUri(path));
  }
}

/** Removing a folder must not silently remove a repository or agent settings inside it. */
function checkMayGo(top: Path, path: Path): void {
  const { name } = splitPath(path);
  if (path === top || !keepsTree(name)) return;
  const uri = pathToUri(path);
  const message = `${pathToUri(top)} holds ${uri}, which is protected; ask the person to remove it by hand`;
  throw new ToolError("PROTECTED_PATH", message, { uri, rule: name });
}
