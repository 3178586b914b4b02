import { ToolError } from "@octant/core";
import { literalWords } from "../structure/placeholders.ts";
import { LANGUAGES, languageOf } from "../syntax/languages/index.ts";
import type { ParserPool } from "./parser-pool.ts";
import { isIn } from "./scope.ts";
import type { SourceFiles } from "./source-files.ts";

/** The results in one file. */
export interface InFile<T> {
  readonly path: string;
  readonly hash: string;
  readonly found: readonly T[];
}

export interface SyntaxQuery {
  /** Restricts the search to this folder or file. */
  readonly scope?: string;
  readonly signal: AbortSignal;
  /** Called for a file that could not be parsed and was therefore not searched. */
  onUnparsed?(path: string): void;
}

export interface OccurrenceQuery extends SyntaxQuery {
  readonly name: string;
  readonly beside?: string;
  /** Files to leave out. */
  readonly except?: ReadonlySet<string>;
}

/** Files that are read ahead. */
const AHEAD = 8;

/** Searches the files themselves, so it needs no index and is never out of date. Files come in path order. */
export function createSyntaxSearch(files: SourceFiles, parsers: ParserPool) {
  async function* scan<T>(
    { scope = "", signal, onUnparsed }: SyntaxQuery,
    words: readonly string[],
    isWanted: (path: string) => boolean,
    look: (path: string, text: string) => Promise<readonly T[]>,
  ): AsyncGenerator<InFile<T>> {
    const paths = await candidates(files, words, (path) => isIn(scope, path) && isWanted(path), signal);
    yield* inOrder(paths, async (path) => {
      signal.throwIfAborted();
      const file = await files.read(path);
      if (file?.isTooLarge) onUnparsed?.(path);
      if (!file || words.some((word) => !file.text.includes(word))) return undefined;
      const found = await look(path, file.text).catch((cause: unknown) => {
        // One file that fails to parse must not fail the search.
        if (!(cause instanceof ToolError)) throw cause;
        onUnparsed?.(path);
        return [];
      });
      return found.length > 0 ? { path, hash: file.state.hash, found } : undefined;
    });
  }

  return {
    /** Code that matches a pattern, in one language or in all programming languages. */
    async *structures({
      pattern,
      language,
      ...query
    }: SyntaxQuery & { readonly pattern: string; readonly language?: string }) {
      const languages = languagesFor(language);
      let isPattern = false;
      const refused = new Set<string>();
      const isWanted = (path: string) => languages.has(languageOf(path)?.id ?? "");
      yield* scan(query, literalWords(pattern), isWanted, async (path, text) => {
        const found = await parsers.call("structures", path, text, pattern);
        if (found) isPattern = true;
        else refused.add(languageOf(path)?.id ?? "");
        return found ?? [];
      });
      if (!isPattern && refused.size > 0) throw noPattern([...refused].sort());
    },
    /** Where a name occurs as an identifier, in all files or in those that contain another word beside it. */
    occurrences({ name, beside, except, ...query }: OccurrenceQuery) {
      const isWanted = (path: string) => languageOf(path) !== undefined && !except?.has(path);
      return scan(query, beside === undefined ? [name] : [name, beside], isWanted, (path, text) =>
        parsers.call("occurrences", path, text, name),
      );
    },
  };
}

/** Any text is valid YAML, so data formats are searched only when asked for. */
function languagesFor(asked: string | undefined): ReadonlySet<string> {
  if (asked === undefined) return new Set(LANGUAGES.filter(({ calls }) => calls).map(({ id }) => id));
  const family = LANGUAGES.filter(({ id }) => id === asked || (asked === "typescript" && id === "tsx"));
  if (family.length > 0) return new Set(family.map(({ id }) => id));
  const message = `no grammar for '${asked}'; there are: ${LANGUAGES.map(({ id }) => id).join(", ")}`;
  throw new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "language", message }] });
}

function noPattern(languages: readonly string[]): ToolError<"INVALID_ARGUMENT"> {
  const message = `the pattern is not valid ${languages.join(" or ")}; write it as code, with $NAME for one node and $$$NAME for any number`;
  return new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "pattern", message }] });
}

async function candidates(
  files: SourceFiles,
  words: readonly string[],
  isWanted: (path: string) => boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const paths: string[] = [];
  if (files.holding && words.length > 0) {
    for await (const path of files.holding(words, signal)) if (isWanted(path)) paths.push(path);
  } else for await (const { path } of files.list(signal)) if (isWanted(path)) paths.push(path);
  return paths.sort();
}

/** Runs several at once and yields their results in path order. */
async function* inOrder<T>(
  paths: readonly string[],
  work: (path: string) => Promise<T | undefined>,
): AsyncGenerator<T> {
  const ahead: Promise<T | undefined>[] = [];
  for (const path of paths) {
    const next = work(path);
    // The consumer sees the failure when it awaits this; it may never do so.
    next.catch(() => {});
    ahead.push(next);
    if (ahead.length < AHEAD) continue;
    const found = await ahead.shift();
    if (found) yield found;
  }
  for (const next of ahead) {
    const found = await next;
    if (found) yield found;
  }
}
