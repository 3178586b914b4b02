import { dirname, join } from "node:path/posix";
import { counted, ToolError } from "@octant/core";
import { EDIT_MS, type LanguageClient, type Path, pathToUri, proposedEdits, type Spot } from "@octant/host";
import type { Code } from "./code.ts";
import { MAX_OPENED, openUses } from "./open-uses.ts";
import { sortPlaces } from "./place.ts";
import { holds } from "./sources.ts";

type Proposed = Parameters<typeof proposedEdits>[1];

interface Renaming {
  readonly spot: Spot;
  readonly new_name: string;
}

/**
 * Returns the server's edit after opening the files that may use the symbol. UPSTREAM_ERROR when it would still miss
 * uses. When a module goes on exporting the symbol by its old name, importers keep that name, and the note says so.
 */
export async function proposeForAll(
  code: Code,
  client: LanguageClient,
  { spot, new_name }: Renaming,
  propose: () => Promise<Proposed>,
  signal: AbortSignal,
): Promise<{ readonly proposed: Proposed; readonly note?: string }> {
  const { nameAt } = code.sources;
  const name = nameAt(spot);
  const files = await openUses(code, client, spot, signal);
  let proposed = await propose();
  const importers = await importersOf(code, spot, name, files);
  const toEdits = () => proposedEdits(code.workspace.confinement, proposed);
  const unedited = () => {
    const edited = new Set(toEdits().map(({ path }) => path));
    return importers.filter((path) => !edited.has(path));
  };
  if (unedited().length > 0) {
    await client.open(unedited().slice(0, MAX_OPENED), signal);
    proposed = await propose();
  }
  const edits = toEdits();
  const uses = (await client.references(spot, signal, EDIT_MS)) ?? [];
  const left = sortPlaces(code, uses).inside.filter(
    (use) => !edits.some(({ path, range }) => path === use.path && holds(range, use.range.start)),
  );
  // A use by another name, as after `import { a as b }`, stays.
  const missed = left.filter(({ path, range }) => nameAt({ path, position: range.start }) === name);
  // `export { a }` became `export { b as a }`.
  const aliased = unique(edits.filter(({ newText }) => newText !== new_name).map(({ path }) => path));
  const isUnchanged = (path: Path) => aliased.length > 0 && path !== spot.path && !importers.includes(path);
  const forgotten = unique([
    ...unedited(),
    ...missed.map(({ path }) => path).filter((path) => !isUnchanged(path)),
  ]);
  if (forgotten.length > 0) throw incomplete(client.name, forgotten);
  if (missed.length === 0) return { proposed };
  const users = unique(missed.map(({ path }) => path));
  const note = `${list(aliased)} still has the name ${name}, so ${counted(missed.length, "use")} in ${list(users)} keep it; rename it there too to change them`;
  return { proposed, note };
}

/** Files that import a top-level name directly from its defining file. */
async function importersOf(
  { sources }: Code,
  { path, position }: Spot,
  name: string | undefined,
  files: readonly Path[],
): Promise<readonly Path[]> {
  if (name === undefined || !IS_SCRIPT.test(path)) return [];
  const symbol = await sources.enclosing(path, position).catch(() => undefined);
  if (symbol?.path !== name) return [];
  const module = withoutExtension(path);
  return files.filter((file) => {
    const { text } = sources.readIfThere(file) ?? { text: "" };
    return [...text.matchAll(IMPORT)].some(
      ([, names = "", from = ""]) =>
        withoutExtension(join(dirname(file), from)) === module && takes(names, name),
    );
  });
}

const IS_SCRIPT = /\.[cm]?[jt]sx?$/;
const IMPORT = /^(?:import|export)\s[^'"`;{}]*\{([^{}'"`;]*)\}\s*from\s*['"](\.[^'"]*)['"]/gm;
/** `a, type b as c` imports a and b. */
const takes = (names: string, name: string): boolean =>
  names.split(",").some(
    (one) =>
      one
        .trim()
        .replace(/^type\s+/, "")
        .split(/\s/, 1)[0] === name,
  );
const withoutExtension = (path: Path): Path =>
  path.replace(/(?:\.d)?\.[cm]?[jt]sx?$/, "").replace(/\/index$/, "");

const MAX_SHOWN_FILES = 5;

const unique = (paths: readonly Path[]): Path[] => [...new Set(paths)];

const list = (paths: readonly Path[]): string => {
  const more = paths.length - MAX_SHOWN_FILES;
  const shown = paths.slice(0, MAX_SHOWN_FILES).map(pathToUri).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
};

const incomplete = (server: string, files: readonly Path[]) =>
  new ToolError(
    "UPSTREAM_ERROR",
    `${server} would leave uses in ${list(files)} as they are, so nothing was renamed; try again, or edit by fs.apply_patch`,
    {},
  );
