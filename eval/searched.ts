// A project as Octant searches it: the real engine with its threads and its index on disk.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Modality,
  ParserPool,
  SearchEngine,
  type SearchParts,
  type SourceFiles,
  searchCode,
} from "@octant/search";
import type { Place, Source } from "./corpus.ts";

export interface Searched {
  /** The results, best first: file and first line. */
  search(query: string, modality: Modality, limit: number, also?: readonly string[]): Promise<Listed[]>;
  /** In the order of `code.search_symbol`. */
  searchSymbol(name: string, limit: number): Promise<Listed[]>;
  close(): Promise<void>;
}
export interface Listed extends Pick<Place, "path" | "firstLine"> {
  readonly symbol: string | null;
}

type Text = Pick<Source, "path" | "text">;

export async function searchSources(sources: readonly Text[]): Promise<Searched> {
  const folder = mkdtempSync(join(tmpdir(), "octant-eval-"));
  const parsers = new ParserPool(3);
  const engine = new SearchEngine({ files: filesOf(sources), folder, parsers, log: console.error });
  const { signal } = new AbortController();
  await engine.index({ signal });
  const parts: SearchParts = {
    engine,
    grep: async (text, { limit }) => grep(sources, text, limit),
    async *paths() {
      for (const { path } of sources) yield path;
    },
  };
  return {
    async search(query, modality, limit, also = []) {
      const hits = await searchCode(parts, { query, also, modality, limit, signal });
      return hits.map(({ path, range, symbol }) => ({ path, symbol, firstLine: range?.start.line ?? 0 }));
    },
    async searchSymbol(name, limit) {
      const symbols = await engine.symbols(name, { limit });
      return symbols.map(({ file, path, range }) => ({
        path: file,
        symbol: path,
        firstLine: range.start.line,
      }));
    },
    async close() {
      await engine.close();
      await parsers.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function filesOf(sources: readonly Text[]): SourceFiles {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  return {
    async *list() {
      for (const source of sources) yield stateOf(source);
    },
    async *holding(words) {
      for (const { path, text } of sources) if (words.every((word) => text.includes(word))) yield path;
    },
    read(path) {
      const source = byPath.get(path);
      return source && { text: source.text, state: stateOf(source) };
    },
    onChange: () => () => {},
  };
}

const stateOf = ({ path, text }: Text) => ({
  path,
  hash: `sha256:${createHash("sha256").update(text).digest("hex")}`,
  size: text.length,
  mtimeMs: 0,
});

function grep(sources: readonly Text[], text: string, limit: number) {
  return sources
    .flatMap(({ path, text: content }) =>
      content.includes(text)
        ? content.split("\n").flatMap((lineText, line) => {
            const col = lineText.indexOf(text);
            return col < 0
              ? []
              : [
                  {
                    path,
                    line: lineText,
                    range: { start: { line, col }, end: { line, col: col + text.length } },
                  },
                ];
          })
        : [],
    )
    .slice(0, limit);
}
