export { createGrammars, type Grammars } from "./syntax/grammars.ts";
export { type Language, SYMBOL_KINDS, type SymbolKind } from "./syntax/language.ts";
export { LANGUAGES, languageOf } from "./syntax/languages/index.ts";
export { findSymbols, type SourceSymbol } from "./syntax/symbols.ts";
