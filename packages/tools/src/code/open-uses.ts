import { existsSync } from "node:fs";
import { type LanguageClient, type Path, type Spot, splitPath, toNative } from "@octant/host";
import { languageOf } from "@octant/search";
import type { Code } from "./code.ts";
import { parseAll } from "./sources.ts";

/** A server holds each open file in memory. */
export const MAX_OPENED = 32;

/**
 * Opens files that may use the symbol at a position, where the server would not find them by itself: with project
 * references, tests are a separate project, which TypeScript loads only for an open file; Pyright ignores folders
 * that `include` in its settings does not name. Returns all such files, opened or not.
 */
export async function openUses(
  code: Code,
  client: Partial<Pick<LanguageClient, "knowsOnlyOpen" | "open">>,
  spot: Spot,
  signal: AbortSignal,
): Promise<readonly Path[]> {
  if (!client.knowsOnlyOpen || !client.open) return [];
  const name = code.sources.nameAt(spot);
  if (name === undefined) return [];
  const files = await filesUsing(code, spot.path, name, signal);
  await client.open(oneByProjectFirst(code, files).slice(0, MAX_OPENED), signal);
  return files;
}

/** Other files of the same language in which the name occurs as an identifier. */
async function filesUsing(code: Code, path: Path, name: string, signal: AbortSignal): Promise<Path[]> {
  const language = languageOf(path);
  if (!language) return [];
  const naming = await code.symbols.filesNaming(name, language, signal);
  return parseAll(
    code.sources,
    naming.filter((file) => file !== path),
    signal,
    async (source) => ((await code.sources.occurrences(source, name)).length > 0 ? [source.path] : []),
    (source) => [source.path],
  );
}

/** Orders the first file of each project first, then the first of each folder, because not all can be opened. */
function oneByProjectFirst(code: Code, files: readonly Path[]): Path[] {
  const projects = new Map<Path, Path>();
  const projectOf = (folder: Path): Path => {
    const known = projects.get(folder);
    if (known !== undefined) return known;
    const { parent } = splitPath(folder);
    const isProject = folder === "/" || existsSync(toNative(`${folder}/tsconfig.json`));
    const isRoot = code.workspace.confinement.roots.includes(folder);
    const found = isProject || isRoot ? folder : projectOf(parent);
    projects.set(folder, found);
    return found;
  };
  const seen = new Set<string>();
  const isFirst = (key: string) => !seen.has(key) && Boolean(seen.add(key));
  return files
    .map((file) => {
      const folder = splitPath(file).parent;
      const kind = /\.(?:test|spec)\.\w+$/.test(file) ? "test" : "";
      const isOfProject = isFirst(`project ${projectOf(folder)} ${kind}`);
      const isOfFolder = isFirst(`folder ${folder} ${kind}`);
      return { file, rank: isOfProject ? 0 : isOfFolder ? 1 : 2 };
    })
    .sort((a, b) => a.rank - b.rank)
    .map(({ file }) => file);
}
