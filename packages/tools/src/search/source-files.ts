import { readSync, statSync } from "node:fs";
import { ToolError } from "@octant/core";
import {
  hashOf,
  type Path,
  parseBlock,
  presentRoots,
  type TextPattern,
  toNative,
  type Watcher,
  type Workspace,
} from "@octant/host";
import { type ListedFile, languageOf, type SourceFile, type SourceFiles } from "@octant/search";
import { isSecretFile } from "./secret-files.ts";
import { createSeenFiles } from "./seen-files.ts";

export type SearchedWorkspace = Pick<Workspace, "confinement" | "ripgrep">;

/** Larger files are data, or generated. Of those with code, the index holds only the path. */
const MAX_SOURCE_BYTES = 1024 * 1024;
const STATS_PER_TURN = 256;
/** A literal in code may contain some; UTF-16 has one for each letter. */
const MAX_NULS = 16;

/**
 * The files of the workspace for the search engine: those of the first root by their relative path. Files that rules
 * deny to all searches are not indexed.
 */
export function createSourceFiles(
  workspace: SearchedWorkspace,
  watcher: Pick<Watcher, "onChange" | "poll">,
  toDenied: () => (path: Path) => boolean = () => () => false,
): SourceFiles {
  const { toName, toPath } = createNames(workspace.confinement.roots);
  const seen = createSeenFiles();
  return {
    async *list(signal) {
      const isDenied = toDenied();
      for await (const file of listSources(workspace, signal)) if (!isDenied(toPath(file.path))) yield file;
    },
    async *holding(words, signal) {
      const [first, ...others] = await Promise.all(
        words.map((word) => filesWith(workspace, { pattern: word, fixed: true }, { signal })),
      );
      for (const path of first ?? []) if (others.every((files) => files.has(path))) yield toName(path);
    },
    read(name) {
      const path = toPath(name);
      if (toDenied()(path)) return undefined;
      const remember = seen.look(path);
      const file = readSource(workspace, name);
      if (file) remember(file.state.hash);
      return file;
    },
    isStill: (name, hash) => !toDenied()(toPath(name)) && seen.isStill(toPath(name), hash),
    onChange: (listener) =>
      watcher.onChange((paths) => listener(paths === null ? "unknown" : paths.map(toName))),
    poll: watcher.poll,
  };
}

export async function* listSources(
  { confinement, ripgrep }: SearchedWorkspace,
  signal: AbortSignal,
): AsyncGenerator<ListedFile> {
  const { toName } = createNames(confinement.roots);
  let looked = 0;
  for (const root of presentRoots(confinement).present) {
    for await (const paths of ripgrep.files(root, { signal })) {
      for (const path of paths) {
        if (++looked % STATS_PER_TURN === 0) await new Promise(setImmediate);
        if (isSecretFile(path)) continue;
        const found = statSync(toNative(path), { throwIfNoEntry: false });
        if (!found || (found.size > MAX_SOURCE_BYTES && !isCode(path))) continue;
        yield { path: toName(path), size: found.size, mtimeMs: found.mtimeMs };
      }
    }
  }
}

const isCode = (path: string): boolean => languageOf(path)?.calls !== undefined;

/** undefined when the file is gone, is not text, or holds secrets. */
export function readSource(
  { confinement }: Pick<SearchedWorkspace, "confinement">,
  name: string,
): SourceFile | undefined {
  if (isSecretFile(name)) return undefined;
  try {
    using file = confinement.openFile(createNames(confinement.roots).toPath(name));
    const { size, mtimeMs } = file.stat;
    if (size > MAX_SOURCE_BYTES) {
      if (!isCode(name)) return undefined;
      const hash = hashOf(Buffer.from(`too large: ${size} ${mtimeMs}`));
      return { text: "", isTooLarge: true, state: { path: name, hash, size, mtimeMs } };
    }
    const bytes = readBytes(file.fd, size);
    const text = bytes.toString("utf8");
    const nuls = text.split("\0").length - 1;
    // NUL bytes mean that the file is not text, except for a few within code.
    if (nuls > (isCode(name) ? MAX_NULS : 0)) return undefined;
    const state = { path: name, hash: hashOf(bytes), size, mtimeMs };
    return { text: text.replaceAll("\0", " "), state };
  } catch (cause) {
    if (cause instanceof ToolError) return undefined;
    throw cause;
  }
}

interface FolderQuery {
  readonly signal: AbortSignal;
  readonly globs?: readonly string[];
  readonly folders?: readonly Path[];
}

/** The files in some folders, or in all roots, that contain the text. */
export async function filesWith(
  workspace: SearchedWorkspace,
  pattern: TextPattern,
  how: FolderQuery,
): Promise<ReadonlySet<Path>> {
  const files = new Set<Path>();
  for await (const { path } of matchesOf(workspace, { ...pattern, maxPerFile: 1 }, how)) files.add(path);
  return files;
}

/** Any of the names, in any case. */
export const asAnyOf = (names: readonly string[]): TextPattern => ({
  pattern: names.map((name) => name.replace(/[^\p{L}\p{N}_]/gu, "\\$&")).join("|"),
  case: "insensitive",
});

/** Beyond this, one search of everything takes less than one of each file. */
const MAX_APART = 8;

/** Those of the files that contain one of the names, in any case. */
export async function thoseNaming(
  workspace: SearchedWorkspace,
  files: readonly Path[],
  names: readonly string[],
  how: FolderQuery,
): Promise<Path[]> {
  if (files.length > MAX_APART) {
    const found = await filesWith(workspace, asAnyOf(names), how);
    return files.filter((path) => found.has(path));
  }
  const named = await Promise.all(files.map((path) => hasName(workspace, path, names, how)));
  return files.filter((_, at) => named[at]);
}

async function hasName(
  { confinement, ripgrep }: SearchedWorkspace,
  path: Path,
  names: readonly string[],
  { signal }: FolderQuery,
): Promise<boolean> {
  if (isSecretFile(path) || confinement.denied(path) !== undefined) return false;
  try {
    const pattern = { ...asAnyOf(names), maxPerFile: 1 };
    const text = readPlainText(confinement, path);
    if (text !== undefined) return new RegExp(pattern.pattern, "i").test(text);
    for await (const messages of ripgrep.searchFile(path, pattern, { signal }))
      if (messages.some(({ kind }) => kind === "match")) return true;
    return false;
  } catch (cause) {
    // Removed since it was indexed, or not to be read by this call.
    if (cause instanceof ToolError && GONE.includes(cause.code)) return false;
    throw cause;
  }
}

/** Reading a file takes less than starting ripgrep for it; undefined for one that is larger, or is not UTF-8. */
function readPlainText(confinement: Workspace["confinement"], path: Path): string | undefined {
  using file = confinement.openFile(path);
  if (file.stat.size > MAX_SOURCE_BYTES) return undefined;
  const bytes = readBytes(file.fd, file.stat.size);
  return bytes.includes(0) ? undefined : bytes.toString("utf8");
}

function readBytes(fd: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  readSync(fd, bytes, 0, size, 0);
  return bytes;
}

const GONE: readonly string[] = [
  "NOT_FOUND",
  "NOT_A_FILE",
  "ACCESS_DENIED",
  "OUTSIDE_WORKSPACE",
  "PERMISSION_DENIED",
];

/** The lines that contain the text, in any order of the files. */
export async function* linesWith(workspace: SearchedWorkspace, pattern: TextPattern, how: FolderQuery) {
  for await (const { path, json } of matchesOf(workspace, pattern, how)) {
    const { line, head } = parseBlock(json);
    yield { path, line, text: head.toString("utf8") };
  }
}

async function* matchesOf(
  { confinement, ripgrep }: SearchedWorkspace,
  pattern: TextPattern,
  { folders = presentRoots(confinement).present, ...filter }: FolderQuery,
) {
  let path: Path | undefined;
  for (const folder of folders)
    for await (const messages of ripgrep.searchFolder(folder, pattern, { order: "any", ...filter }))
      for (const message of messages)
        if (message.kind === "begin") {
          const isHidden = isSecretFile(message.path) || confinement.denied(message.path) !== undefined;
          path = isHidden ? undefined : message.path;
        } else if (message.kind === "match" && path !== undefined) yield { path, json: message.json };
}

/** A name with a slash at its start is an absolute path, for files in other roots than the first. */
export function createNames([first = "/"]: readonly Path[]) {
  const prefix = first === "/" ? "/" : `${first}/`;
  return {
    toName: (path: Path): string => (path.startsWith(prefix) ? path.slice(prefix.length) : path),
    toPath: (name: string): Path => (name.startsWith("/") ? name : prefix + name),
  };
}
