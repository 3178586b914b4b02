import { type Position, type Range, ToolError } from "@octant/core";
import { type Path, readSourceText, type SourceText, type Workspace } from "@octant/host";
import { createGrammars, findSymbols, type Grammars, languageOf, type SourceSymbol } from "@octant/search";
import { toSymbolId } from "./symbol-id.ts";

/** Files as code: their text, their lines, their symbols. */
export interface Sources {
  readonly grammars: Grammars;
  read(path: Path): SourceText;
  /** Undefined for what is gone meanwhile, or is no text after all. */
  readIfThere(path: Path): SourceText | undefined;
  /** The symbols of a file as it is now, or was read just now; none where no grammar knows its language. */
  symbols(path: Path, read?: SourceText): Promise<readonly SourceSymbol[]>;
  /** What surrounds a place, smallest first. */
  enclosing(path: Path, position: Position, read?: SourceText): Promise<SourceSymbol | undefined>;
  symbolId(path: Path, symbol: Pick<SourceSymbol, "path">): string;
}

const MAX_KEPT_FILES = 256;

export function createSources({ confinement }: Pick<Workspace, "confinement">, grammars?: Grammars): Sources {
  const known = new Map<string, Promise<readonly SourceSymbol[]>>();
  const shared = grammars ?? createGrammars();

  const symbols: Sources["symbols"] = (path, read) => {
    const language = languageOf(path);
    if (!language) return Promise.resolve([]);
    const { text, hash } = read ?? readSourceText(confinement, path);
    const key = `${language.id} ${hash}`;
    const found = known.get(key) ?? findSymbols(shared, language, text);
    known.delete(key);
    known.set(key, found);
    for (const oldest of known.keys()) if (known.size > MAX_KEPT_FILES) known.delete(oldest);
    return found;
  };

  return {
    grammars: shared,
    read: (path) => readSourceText(confinement, path),
    readIfThere(path) {
      try {
        return readSourceText(confinement, path);
      } catch (cause) {
        if (cause instanceof ToolError) return undefined;
        throw cause;
      }
    },
    symbols,
    async enclosing(path, position, read) {
      const around = (await symbols(path, read)).filter(({ range }) => holds(range, position));
      // They come in the order they start, so that the last one is the innermost.
      return around.at(-1);
    },
    symbolId: (path, symbol) => toSymbolId(confinement, path, symbol.path),
  };
}

/** The end counts too: a cursor behind a word is still at it. */
export const holds = ({ start, end }: Range, at: Position): boolean =>
  compare(start, at) <= 0 && compare(at, end) <= 0;

export const compare = (a: Position, b: Position): number => a.line - b.line || a.col - b.col;
