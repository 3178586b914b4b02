import { type Path, toBytes } from "../path.ts";
import type { Message } from "./ripgrep-messages.ts";
import type { FileMatches } from "./search-page.ts";

/** Above this, a sorted search that ends with the page is faster than a parallel one that ends with the last file. */
const MAX_GATHERED_BLOCKS = 1_000;
const MAX_GATHERED_BYTES = 2_097_152;

/** All files of a search in any order, sorted by path; undefined, and the search stopped, when there are too many matches. */
export async function gatherFiles(
  search: AsyncIterable<readonly Message[]>,
): Promise<FileMatches[] | undefined> {
  const files = new Map<Path, { path: Path; blocks: Buffer[]; count: number }>();
  let blocks = 0;
  let bytes = 0;
  for await (const part of streamFiles(search)) {
    const file = files.get(part.path) ?? { path: part.path, blocks: [], count: 0 };
    files.set(part.path, file);
    file.blocks.push(...part.blocks);
    file.count = part.count ?? 0;
    blocks += part.blocks.length;
    bytes += part.blocks.reduce((sum, { length }) => sum + length, 0);
    if (blocks > MAX_GATHERED_BLOCKS || bytes > MAX_GATHERED_BYTES) return undefined;
  }
  return sortByPath([...files.values()]);
}

/** Into the order of comparePaths; with a thousand files, keys are ten times as fast as comparing part by part. */
export function sortByPath<F extends { readonly path: Path }>(files: readonly F[]): F[] {
  const keyed = files.map((file) => ({ file, key: sortKey(file.path) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ file }) => file);
}

/** One character per byte; a slash as the smallest of all, so that a folder's content comes right after the folder. */
const sortKey = (path: Path): string => toBytes(path).toString("latin1").replaceAll("/", "\0");

/** The files of a search as they come; one with many matches comes in parts, and the last part counts them. */
export async function* streamFiles(
  search: AsyncIterable<readonly Message[]>,
): AsyncGenerator<FileMatches, void> {
  let path: Path = "";
  for await (const messages of search) {
    let blocks: Buffer[] = [];
    for (const message of messages) {
      if (message.kind === "begin") path = message.path;
      else if (message.kind === "match") blocks.push(message.json);
      else {
        yield { path, blocks, count: message.matches };
        blocks = [];
      }
    }
    if (blocks.length > 0) yield { path, blocks };
  }
}
