import type { LanguageClient, Path, Spot } from "@octant/host";
import { languageOf } from "@octant/search";
import type { Code } from "./code.ts";
import { parseMany } from "./parse-many.ts";
import { wordAt } from "./words.ts";

/** A server keeps each open file in memory. */
const MAX_OPENED = 32;

/**
 * Opens files that may use the symbol at a place, where the server would not look into them by itself: with project
 * references, tests are a project of their own, and TypeScript loads it only for an open file; Pyright leaves out the
 * folders that `include` in its settings does not name.
 */
export async function openUses(
  code: Code,
  client: Partial<Pick<LanguageClient, "knowsOnlyOpen" | "open">>,
  { path, position, source }: Spot,
  signal: AbortSignal,
): Promise<void> {
  if (!client.knowsOnlyOpen || !client.open) return;
  const { text } = source ?? code.sources.read(path);
  const name = wordAt(text, position)?.text;
  if (name === undefined) return;
  const files = await filesUsing(code, path, name, signal);
  await client.open(oneByFolderFirst(files).slice(0, MAX_OPENED), signal);
}

/** Files of the same language, other than this one, in which the name stands as a name. */
export async function filesUsing(code: Code, path: Path, name: string, signal: AbortSignal): Promise<Path[]> {
  const language = languageOf(path);
  if (!language) return [];
  const naming = await code.symbols.filesNaming(name, language, signal);
  const using = await parseMany(
    code.sources,
    naming.filter((file) => file !== path),
    signal,
    async (source) => ((await code.sources.occurrences(source, name)).length > 0 ? [source.path] : []),
    (source) => [source.path],
  );
  return using.flat();
}

/** A project is a folder, so the first file of each folder comes before the second of any. */
function oneByFolderFirst(files: readonly Path[]): Path[] {
  const seen = new Map<string, number>();
  return files
    .map((file) => {
      const folder = file.slice(0, file.lastIndexOf("/"));
      const kind = /\.(?:test|spec)\.\w+$/.test(file) ? "test" : "";
      const key = `${folder} ${kind}`;
      const rank = seen.get(key) ?? 0;
      seen.set(key, rank + 1);
      return { file, rank };
    })
    .sort((a, b) => a.rank - b.rank)
    .map(({ file }) => file);
}
