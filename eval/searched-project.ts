// A project as Octant searches it: the real index, the real threads, the real composition of strategies.
import { createHash } from "node:crypto";
import {
  type CodeIndex,
  type CodeIndexOptions,
  createFileParser,
  createGrammars,
  createSharedParsers,
  createSyntaxSearch,
  type Hit,
  type IndexedFile,
  openCodeIndex,
  type SearchParts,
  type SourceFiles,
  searchCode,
} from "@octant/search";
import type { QuestionSet, Source } from "./questions.ts";

export interface SearchedProject {
  readonly index: CodeIndex;
  search(query: string, modality: "auto" | "text" | "vector", limit: number): Promise<Hit[]>;
  close(): Promise<void>;
}

export async function searchProject(
  { sources }: QuestionSet,
  options: CodeIndexOptions = {},
): Promise<SearchedProject> {
  const index = openCodeIndex(":memory:", options);
  await index.put(await Promise.all(sources.map(parser())));

  const parsers = createSharedParsers(2);
  const syntax = createSyntaxSearch(filesOf(sources), parsers);
  const parts: SearchParts = {
    engine: { ...index, outline: async (path) => index.outline(path), syntax },
    grep: async (text, { limit }) => grep(sources, text, limit),
    async *paths() {
      for (const { path } of sources) yield path;
    },
  };
  return {
    index,
    async search(query, modality, limit) {
      const { signal } = new AbortController();
      if (modality === "auto") return searchCode(parts, { query, modality, limit, signal });
      const ranked = await index.rank(query, { strategies: [modality], limit });
      return ranked.map(({ file, hash, symbol, score, why }) => ({
        ...{ path: file, hash, range: null, score, why },
        ...{ symbol: symbol?.path ?? null, kind: symbol?.kind ?? "lines" },
      }));
    },
    async close() {
      await parsers.close();
      await index.close();
    },
  };
}

function parser() {
  const parseFile = createFileParser(createGrammars());
  return async (source: Source): Promise<IndexedFile> => ({
    state: stateOf(source),
    parsed: await parseFile(source.path, source.text),
  });
}

const stateOf = ({ path, text }: Source) => ({
  path,
  hash: `sha256:${createHash("sha256").update(text).digest("hex")}`,
  size: text.length,
  mtimeMs: 0,
});

function filesOf(sources: readonly Source[]): SourceFiles {
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

function grep(sources: readonly Source[], text: string, limit: number) {
  return sources
    .flatMap(({ path, text: content }) =>
      content.includes(text)
        ? content.split("\n").flatMap((lineText, line) => {
            const col = lineText.indexOf(text);
            return col < 0
              ? []
              : [{ path, range: { start: { line, col }, end: { line, col: col + text.length } } }];
          })
        : [],
    )
    .slice(0, limit);
}
