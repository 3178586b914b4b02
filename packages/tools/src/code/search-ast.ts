import { action, ToolError } from "@octant/core";
import type { Path } from "@octant/host";
import { createStructureFinder, LANGUAGES, type Language, languageOf, literalWords } from "@octant/search";
import { z } from "zod";
import type { Code } from "./code.ts";
import { LIST_ERRORS } from "./errors.ts";
import { Paging, pageOfPlaces } from "./page.ts";
import { comparePlaces, Place, toPlace } from "./place.ts";
import { Scope } from "./search-symbol.ts";
import { filesIn, toGlobs } from "./symbol-search.ts";

const MAX_PATTERN_CHARS = 4_096;
/** Enough to fill many pages; the place where a page ends is where the next one begins to look. */
const MAX_MATCHES = 2_000;
const MAX_CAPTURE_CHARS = 1_000;

const Match = Place.extend({ captures: z.record(z.string(), z.string()).describe("By metavariable") });

export const search_ast = (code: Code) =>
  action({
    summary: "Find code by its structure: $X stands for one node, $$$X for any number.",
    access: "read",
    timing: "async_short",
    intent: "inspect",
    input: z.strictObject({
      pattern: z.string().min(1).max(MAX_PATTERN_CHARS).describe("Code with $X, $$$X"),
      language: z.string().optional().describe("By file when absent"),
      scope: Scope,
      ...Paging,
    }),
    output: z.object({ results: z.array(Match) }),
    errors: LIST_ERRORS,
    examples: [
      { title: "Exported constants", input: { pattern: "export const $N = $V", language: "typescript" } },
    ],
    async run({ pattern, language, scope, limit }, ctx) {
      ctx.backend("tree-sitter");
      const { confinement } = code.workspace;
      const wanted = language === undefined ? LANGUAGES : [findLanguage(language)];
      const where = scope === undefined ? undefined : confinement.toPath(scope);
      const files = await filesIn(confinement, where, (folders) =>
        listFiles(code, folders, wanted, ctx.signal),
      );
      const finder = createStructureFinder(code.sources.grammars, pattern);
      const words = literalWords(pattern);
      const found = [];
      let understood = 0;
      for (const path of files) {
        ctx.signal.throwIfAborted();
        const own = languageOf(path);
        if (!own || !wanted.includes(own)) continue;
        const matches = await finder.find(own, textWith(code, path, words));
        if (matches) understood++;
        found.push(...(matches ?? []).map((match) => ({ path, ...match })));
        if (found.length >= MAX_MATCHES) break;
      }
      if (understood === 0 && language !== undefined) await checkPattern(finder, wanted);
      const results = await pageOfPlaces(found.sort(comparePlaces), limit, ctx, async (match) => {
        const place = await toPlace(code, match);
        return place && { ...place, captures: textsOf(match.captures) };
      });
      return { results };
    },
  });

function findLanguage(id: string): Language {
  const language = LANGUAGES.find((one) => one.id === id.toLowerCase());
  if (language) return language;
  const message = `no grammar for '${id}'; languages: ${LANGUAGES.map((one) => one.id).join(", ")}`;
  throw new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "language", message }] });
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

/** Nothing where the file is gone or no text, or lacks a word that the pattern has. */
function textWith({ sources }: Code, path: Path, words: readonly string[]): string {
  const text = sources.readIfThere(path)?.text ?? "";
  return words.every((word) => text.includes(word)) ? text : "";
}

async function checkPattern(
  finder: ReturnType<typeof createStructureFinder>,
  languages: readonly Language[],
): Promise<void> {
  for (const language of languages) if (await finder.find(language, "")) return;
  const message =
    "the pattern is no code of this language; write it as it would stand in a file, with $X for parts";
  throw new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "pattern", message }] });
}

const textsOf = (captures: Readonly<Record<string, { readonly text: string }>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(captures).map(([name, { text }]) => [
      name,
      text.slice(0, MAX_CAPTURE_CHARS).toWellFormed(),
    ]),
  );
