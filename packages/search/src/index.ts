export { VECTOR_WEIGHT } from "./engine/chunk-ranker.ts";
export type { RankedHit, RankOptions } from "./engine/code-index.ts";
export { cutChunks } from "./engine/cut-chunks.ts";
export { ParserPool } from "./engine/parser-pool.ts";
export type {
  EngineStatus,
  IndexedFirst,
  IndexOptions,
  IndexProgress,
  IndexReport,
} from "./engine/search-engine.ts";
export { SearchEngine } from "./engine/search-engine.ts";
export type { ListedFile, SourceFile, SourceFiles } from "./engine/source-files.ts";
export type { StoredSymbol } from "./engine/store.ts";
export { byFit, type SymbolOptions, spellingsOf } from "./engine/symbol-search.ts";
export type { InFile, SyntaxQuery } from "./engine/syntax-search.ts";
export { keptShareOf, traitFactors as keptShares } from "./engine/traits.ts";
export { createQuestionTerms } from "./lexical/question-terms.ts";
export { FIELDS, LEXICAL_WEIGHTS, type LexicalWeights, rarityOf } from "./lexical/weigh-terms.ts";
export { type Hit, MODALITIES, type Modality, type SearchParts } from "./query/hit.ts";
export { type Route, routeOf, unmetBy } from "./query/route.ts";
export { searchCode } from "./query/search-code.ts";
export { addStandardised, agreementOf } from "./ranking/standardise.ts";
export type { StructureMatch } from "./structure/find-structures.ts";
export { literalWords } from "./structure/placeholders.ts";
export { createGrammars, type Grammars } from "./syntax/grammars.ts";
export { type Language, SYMBOL_KINDS, type SymbolKind } from "./syntax/language.ts";
export { LANGUAGES, languageOf } from "./syntax/languages/index.ts";
export type { Call, Occurrence } from "./syntax/occurrences.ts";
export { findSymbols, type SourceSymbol } from "./syntax/symbols.ts";
export type { SyntaxFault } from "./syntax/syntax-errors.ts";
export { stemOf } from "./text/stem.ts";
export { createTermCutter, type TermCutter } from "./text/terms.ts";
export type { Embedder } from "./vector/embedder.ts";
export { createHttpEmbedder } from "./vector/http-embedder.ts";
export { createOnnxEmbedder } from "./vector/onnx-embedder.ts";
export { loadWordTable, type WordTable } from "./vector/word-table.ts";
