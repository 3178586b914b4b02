import { staleCursor, ToolError } from "@octant/core";
import { z } from "zod";
import type { Confinement } from "../confinement.ts";
import { isWithin, type Path, pathToUri } from "../path.ts";
import { type PresentRoots, presentRoots } from "./present-roots.ts";
import type { FileFilter, Order, Ripgrep, TextPattern } from "./ripgrep.ts";
import type { Message } from "./ripgrep-messages.ts";
import { gatherFiles, streamFiles } from "./search-order.ts";
import { createPage, type Page, type PageOptions, SearchPosition, TextMatch } from "./search-page.ts";
import { openSource } from "./search-source.ts";

export { TextMatch };

export interface TextSearch extends TextPattern, FileFilter, PageOptions {
  /** A folder or a file; all roots when absent. */
  readonly path?: Path;
  /** Where the page before ended. */
  readonly after?: TextSearchPosition;
  /** Files to pass over, as if they were not there. */
  hides?(path: Path): boolean;
}

export const TextSearchPosition = SearchPosition.extend({
  /** Whether the page before found that there are many matches. */
  many: z.boolean(),
});
type TextSearchPosition = z.output<typeof TextSearchPosition>;

export interface TextPage {
  readonly matches: readonly TextMatch[];
  /** Null as long as not everything was searched. */
  readonly total: number | null;
  /** Undefined on the last page. */
  readonly next: TextSearchPosition | undefined;
  /** Whether an index chose the files to look into. */
  readonly indexed: boolean;
  /** Roots that no longer exist, where all roots are searched. */
  readonly missing: readonly Path[];
}

export interface Searchable {
  readonly confinement: Confinement;
  readonly ripgrep: Ripgrep;
}

export interface SearchControl {
  readonly signal: AbortSignal;
  /** Called every second. */
  readonly onProgress?: (update: { readonly seconds: number; readonly files: number }) => void;
  readonly timeoutMs?: number;
}

export const MAX_SEARCH_MS = 30_000;
const PROGRESS_MS = 1_000;

/** One page of matches: root by root, then by path, then by place in the file. */
export async function searchText(
  { confinement, ripgrep }: Searchable,
  search: TextSearch,
  { signal: given, onProgress, timeoutMs = MAX_SEARCH_MS }: SearchControl,
): Promise<TextPage> {
  given.throwIfAborted();
  const late = new AbortController();
  const signal = AbortSignal.any([given, late.signal]);
  let [files, seconds, indexed] = [0, 0, false];
  const deadline = setTimeout(() => late.abort(timedOut(timeoutMs)), timeoutMs);
  const ticker = setInterval(() => onProgress?.({ seconds: ++seconds, files }), PROGRESS_MS);
  const onIndexed = () => {
    indexed = true;
  };
  async function* find(place: Place, order: Order) {
    let isHidden = false;
    for await (const messages of findIn(place, ripgrep, search, { order, signal, onIndexed }))
      yield messages.filter((message) => {
        // Before counting, so that no total reveals the content of a hidden file.
        if (message.kind === "begin") isHidden = search.hides?.(message.path) ?? false;
        if (message.kind === "begin" && !isHidden) files++;
        return !isHidden;
      });
  }
  try {
    const { places, missing } = await placesOf(confinement, search);
    using page = createPage(confinement, search, signal);
    return { ...(await fillPage(page, search, places, find)), indexed, missing };
  } finally {
    clearTimeout(deadline);
    clearInterval(ticker);
  }
}

const timedOut = (after_ms: number) =>
  new ToolError(
    "TIMEOUT",
    `the search was stopped after ${after_ms} ms; narrow it with path or glob, or search for something rarer`,
    { after_ms },
  );

async function fillPage(
  page: Page,
  { after }: TextSearch,
  places: readonly Place[],
  find: (place: Place, order: Order) => AsyncIterable<readonly Message[]>,
): Promise<Omit<TextPage, "indexed" | "missing">> {
  let many = after?.many ?? false;
  let searched = 0;
  for (const place of places) {
    const resumed = after && isWithin(place.path, after.path) ? after : undefined;
    // On all cores, until there prove to be many matches; then in order, and only as far as the page goes.
    const gathered = many ? undefined : await gatherFiles(find(place, "any")).catch(whenTooMany);
    many = gathered === undefined;
    if (gathered) for (const file of gathered) await page.add(file, resumed);
    else
      for await (const file of streamFiles(find(place, "path"))) if (!(await page.add(file, resumed))) break;
    if (!page.full || gathered) searched++;
    if (page.full) break;
  }
  return {
    matches: page.matches,
    total: searched === places.length ? page.total : null,
    next: page.full && page.last ? { ...page.last, many } : undefined,
  };
}

/** On all cores ripgrep holds all matches of a file until its end; in order it prints them as it goes. */
function whenTooMany(cause: unknown): undefined {
  if (!(cause instanceof ToolError) || cause.code !== "LIMIT_EXCEEDED") throw cause;
}

interface Place {
  readonly kind: "folder" | "file";
  readonly path: Path;
}

/** The rest of the search, from where the previous page ended. */
async function placesOf(
  confinement: Confinement,
  { path, after }: TextSearch,
): Promise<{ readonly places: readonly Place[]; readonly missing: readonly Path[] }> {
  const { present, missing } = path === undefined ? presentRoots(confinement) : NO_ROOTS;
  const places: readonly Place[] =
    path === undefined
      ? present.map((root) => ({ kind: "folder", path: root }))
      : [await placeAt(confinement, path)];
  if (!after) return { places, missing };
  const at = places.findIndex((place) => isWithin(place.path, after.path));
  if (at === -1) throw staleCursor();
  return { places: places.slice(at), missing };
}

const NO_ROOTS: PresentRoots = { present: [], missing: [] };

async function placeAt(confinement: Confinement, path: Path): Promise<Place> {
  try {
    using folder = confinement.openFolder(path);
    return { kind: "folder", path: folder.path };
  } catch (error) {
    if (!(error instanceof ToolError && error.code === "NOT_A_DIRECTORY")) throw error;
  }
  using file = confinement.openFile(path);
  await refuseBinary(confinement, file.path);
  return { kind: "file", path: file.path };
}

const LOOK_BYTES = 1_048_576;

/** ripgrep skips binary files in a folder, but takes one that it is given for text with odd line ends. */
async function refuseBinary(confinement: Confinement, path: Path): Promise<void> {
  using source = await openSource(confinement, path);
  // A file with a hash is in memory and cheap to search.
  if (!source?.slice(0, source.hash ? source.size : LOOK_BYTES).includes(0)) return;
  const uri = pathToUri(path);
  throw new ToolError("NOT_TEXT", `${uri} is a binary file; fs.read gives its bytes`, { uri });
}

const findIn = (
  { kind, path }: Place,
  ripgrep: Ripgrep,
  { globs, includeIgnored, hides: _hides, ...pattern }: TextSearch,
  how: { readonly order: Order; readonly signal: AbortSignal; readonly onIndexed: () => void },
): AsyncIterable<readonly Message[]> =>
  kind === "file"
    ? ripgrep.searchFile(path, pattern, how)
    : ripgrep.searchFolder(path, pattern, { globs, includeIgnored, ...how });
