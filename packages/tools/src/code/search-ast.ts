import { action, invalidArgument, Uri } from "@octant/core";
import {
  comparePaths,
  type Path,
  pathToUri,
  presentRoots,
  type SourcePlace,
  type SourceText,
} from "@octant/host";
import { LANGUAGES, type Language, languageOf, literalWords, type StructureMatch } from "@octant/search";
import { z } from "zod";
import { INSPECT_SHORT } from "../kinds.ts";
import { notSearched, toHidden, toNotSearched } from "../searched.ts";
import type { Code } from "./code.ts";
import { compareLocations, Location, toLocation } from "./location.ts";
import { LIST_ERRORS, locationBefore, Paging, pageOfLocations } from "./paging.ts";
import { parseMany } from "./sources.ts";
import { Scope } from "./symbol-lists.ts";
import { filesIn, toGlobs } from "./symbol-search.ts";
import { locationLine, placesText } from "./text.ts";
import { noteUnsearched, Unsearched } from "./unsearched.ts";

const MAX_PATTERN_CHARS = 4_096;
const MAX_CAPTURE_CHARS = 1_000;
const MAX_WORDS_ONLY = 20;

const Match = Location.extend({ captures: z.record(z.string(), z.string()).describe("By metavariable") });

export const search_ast = (code: Code) =>
  action({
    summary: "Find code by structure: $X matches one node, $$$X any number.",
    ...INSPECT_SHORT,
    leavesOut: true,
    input: z.strictObject({
      pattern: z.string().min(1).max(MAX_PATTERN_CHARS).describe("Code with $X, $$$X"),
      language: z.string().optional().describe("Default: by file extension"),
      scope: Scope,
      ...Paging,
    }),
    output: z.object({
      results: z.array(Match),
      words_only: z
        .array(Uri)
        .optional()
        .describe(
          "Files with the words of the pattern but no match, at most 20; code in macros is not matched",
        ),
      unparsed: Unsearched.unparsed,
      ...notSearched,
    }),
    errors: LIST_ERRORS,
    examples: [
      { title: "Exported constants", input: { pattern: "export const $N = $V", language: "typescript" } },
    ],
    text: placesText<z.output<typeof Match>>("match", "matches", (row, reader) => {
      const captures = Object.entries(row.captures).map(([name, text]) => `${name}=${JSON.stringify(text)}`);
      return [locationLine(row, reader), captures.join(" ")].filter(Boolean).join("  ");
    }),
    async run({ pattern, language, scope, limit }, ctx) {
      ctx.backend("tree-sitter");
      const { confinement } = code.workspace;
      const wanted = language === undefined ? LANGUAGES : [findLanguage(language)];
      const where = scope === undefined ? undefined : confinement.toPath(scope);
      const files = await filesIn(confinement, where, (folders) =>
        listFiles(code, folders, wanted, ctx.signal),
      );
      if (language !== undefined) await checkPattern(code, pattern, findLanguage(language));
      const from = locationBefore(ctx);
      const isHidden = toHidden(ctx);
      const candidates = [...files]
        .filter((path) => !isHidden(path))
        .filter((path) => wanted.some((one) => one === languageOf(path)))
        .filter((path) => !from || comparePaths(path, from.path) >= 0)
        .toSorted(comparePaths);
      const { found, unparsed, wordsOnly } = await findMatches(
        code,
        pattern,
        candidates,
        from,
        limit,
        ctx.signal,
      );
      const results = await pageOfLocations(found, limit, ctx, async (match) => {
        const place = await toLocation(code, match);
        return place && { ...place, captures: textsOf(match.captures) };
      });
      const { missing } = presentRoots(confinement);
      return {
        results,
        ...(wordsOnly.length > 0 && { words_only: wordsOnly.slice(0, MAX_WORDS_ONLY).map(pathToUri) }),
        ...noteUnsearched({ unparsed }),
        ...toNotSearched(ctx, missing),
      };
    },
  });

/** The matches after a position, in order: at least a page and one more, if there are that many. */
async function findMatches(
  { sources }: Code,
  pattern: string,
  files: readonly Path[],
  from: SourcePlace | undefined,
  limit: number,
  signal: AbortSignal,
) {
  const words = literalWords(pattern);
  const [unparsed, wordsOnly]: [Path[], Path[]] = [[], []];
  const found: (StructureMatch & SourcePlace)[] = [];
  const matchesIn = async (source: SourceText) => {
    if (words.some((word) => !source.text.includes(word))) return [];
    const matches = (await sources.structures(source, pattern)) ?? [];
    if (matches.length === 0 && words.length > 0) wordsOnly.push(source.path);
    return matches.map((match) => ({ path: source.path, ...match }));
  };
  const onUnparsable = ({ path }: SourceText) => {
    unparsed.push(path);
    return [];
  };
  for await (const batch of parseMany(sources, files, signal, matchesIn, onUnparsable)) {
    found.push(...batch.sort(compareLocations).filter((match) => !from || compareLocations(match, from) > 0));
    if (found.length > limit) break;
  }
  return { found, unparsed, wordsOnly };
}

function findLanguage(id: string): Language {
  const language = LANGUAGES.find((one) => one.id === id.toLowerCase());
  if (language) return language;
  const message = `no grammar for '${id}'; languages: ${LANGUAGES.map((one) => one.id).join(", ")}`;
  throw invalidArgument("language", message);
}

async function listFiles(
  { workspace }: Code,
  folders: readonly Path[],
  languages: readonly Language[],
  signal: AbortSignal,
): Promise<Path[]> {
  const files: Path[] = [];
  for (const folder of folders)
    for await (const paths of workspace.ripgrep.files(folder, { globs: languages.flatMap(toGlobs), signal }))
      files.push(...paths);
  return files;
}

async function checkPattern({ sources }: Code, pattern: string, { extensions }: Language): Promise<void> {
  if (await sources.structures({ path: `/a${extensions[0]}`, text: "" }, pattern)) return;
  const message =
    "the pattern is not code of this language; write it as it would stand in a file, with $X for parts";
  throw invalidArgument("pattern", message);
}

const textsOf = (captures: Readonly<Record<string, { readonly text: string }>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(captures).map(([name, { text }]) => [
      name,
      text.slice(0, MAX_CAPTURE_CHARS).toWellFormed(),
    ]),
  );
