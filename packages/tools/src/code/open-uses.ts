import { existsSync } from "node:fs";
import { type Path, type Spot, splitPath, toNative } from "@octant/host";
import type { CodeBackend } from "./backend.ts";
import type { Code } from "./code.ts";

/** A server holds each open file in memory. */
const MAX_OPENED = 32;

/**
 * Opens files that may use a symbol, where the server would not find them by itself: with project references, tests
 * are a separate project, which TypeScript loads only for an open file; Pyright ignores folders that `include` in its
 * settings does not name.
 */
export async function openUses(
  code: Code,
  client: Pick<CodeBackend, "knowsOnlyOpen" | "open">,
  { path }: Spot,
  files: readonly Path[],
  signal: AbortSignal,
): Promise<void> {
  if (!client.open || !client.knowsOnlyOpen) return;
  const others = files.filter((file) => file !== path);
  await client.open(oneByProjectFirst(code, others).slice(0, MAX_OPENED), signal);
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
