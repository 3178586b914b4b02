export * from "./engine/chunk-ranker.ts";
export * from "./engine/code-index.ts";
export { type CutChunk, cutChunks } from "./engine/cut-chunks.ts";
export * from "./engine/parse-file.ts";
export type { ParserPool } from "./engine/parser-pool.ts";
export * from "./engine/search-engine.ts";
export { createSharedParsers, type SharedParsers } from "./engine/shared-parsers.ts";
export * from "./engine/source-files.ts";
export type { ChunkPlace, FileState, IndexCounts, StoredChunk, StoredSymbol } from "./engine/store.ts";
export { byFit, type SymbolOptions } from "./engine/symbol-search.ts";
export {
  createSyntaxSearch,
  type InFile,
  type SyntaxQuery,
  type SyntaxSearch,
} from "./engine/syntax-search.ts";
export { keptShareOf, keptShares } from "./engine/traits.ts";
export { createQuestionTerms } from "./lexical/question-terms.ts";
export * from "./lexical/weigh-terms.ts";
export * from "./query/hit.ts";
export * from "./query/parts.ts";
export * from "./query/route.ts";
export * from "./query/search-code.ts";
export { type Capture, createStructureFinder, type StructureMatch } from "./structure/find-structures.ts";
export { hasMetavariable, literalWords } from "./structure/placeholders.ts";
export { createGrammars, type Grammars } from "./syntax/grammars.ts";
export { type Language, SYMBOL_KINDS, type SymbolKind } from "./syntax/language.ts";
export { LANGUAGES, languageOf } from "./syntax/languages/index.ts";
export { type Call, findCalls, findOccurrences, type Occurrence } from "./syntax/occurrences.ts";
export { findSymbols, type SourceSymbol } from "./syntax/symbols.ts";
export { stemOf } from "./text/stem.ts";
export { createTermCutter, type TermCutter } from "./text/terms.ts";
export { createEmbeddedStore } from "./vector/embedded-store.ts";
export type { Embedder, EmbedRole, Prefixes } from "./vector/embedder.ts";
export { createHttpEmbedder, type HttpEmbedderOptions } from "./vector/http-embedder.ts";
export { openLanceStore } from "./vector/lance-store.ts";
export { createOnnxEmbedder, type OnnxEmbedderOptions } from "./vector/onnx-embedder.ts";
export type { PlacedVector, VectorStore } from "./vector/vector-store.ts";
export { loadWordTable, type WordTable } from "./vector/word-table.ts";
