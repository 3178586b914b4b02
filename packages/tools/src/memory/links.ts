import type { SymbolId, Uri } from "@octant/core";
import { type Confinement, type Files, hashOf as hashOfBytes, pathToUri } from "@octant/host";
import type { ParserPool } from "@octant/search";
import { parseSymbolId } from "../code/position-input.ts";
import { createSources } from "../code/sources.ts";
import type { MemoryItem, MemoryLink } from "./memory-store.ts";

interface LinkOptions {
  readonly files: Files;
  readonly confinement: Confinement;
  readonly parsers: ParserPool;
}

/** The files and symbols that memories are about, and whether they have changed. */
export function createLinks({ files, confinement, parsers }: LinkOptions) {
  const sources = createSources({ confinement }, parsers);
  const symbolHash = async (id: SymbolId): Promise<string | null> => {
    const { path, symbol } = parseSymbolId(confinement, id);
    const source = sources.readIfThere(path);
    const found = source && (await sources.symbols(path, source)).find((one) => one.path === symbol);
    if (!source || !found) return null;
    const { start, end } = found.range;
    const lines = source.text.split("\n").slice(start.line, end.line + 1);
    return hashOfBytes(Buffer.from(lines.join("\n")));
  };
  const hashOf = async (uri: string): Promise<string | null> => {
    try {
      return isSymbol(uri) ? await symbolHash(uri) : ((await files.stat(uri, {})).hash ?? null);
    } catch {
      return null;
    }
  };
  const toLink = async (uri: string): Promise<MemoryLink> => ({
    uri: isSymbol(uri) ? uri : pathToUri(confinement.toPath(uri)),
    hash: await hashOf(uri),
  });
  return {
    /** The current state of files and symbols; null for missing ones. */
    look: (uris: readonly (Uri | SymbolId)[]): Promise<MemoryLink[]> => Promise.all(uris.map(toLink)),
    /** The links of an item that have changed. */
    async changed({ links }: Pick<MemoryItem, "links">): Promise<string[]> {
      const now = await Promise.all(links.map(({ uri }) => hashOf(uri)));
      return links.filter(({ hash }, at) => hash !== now[at]).map(({ uri }) => uri);
    },
  };
}

const isSymbol = (uri: string): uri is SymbolId => uri.startsWith("sym:");
