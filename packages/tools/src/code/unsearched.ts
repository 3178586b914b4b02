import { counted, Uri } from "@octant/core";
import { type Path, pathToUri } from "@octant/host";
import { z } from "zod";
import type { CodeBackend } from "./backend.ts";
import { type Answered, type Code, cannotLoad } from "./code.ts";
import type { CrossCheck } from "./cross-check.ts";
import type { NamedUses } from "./names.ts";

/** Reports what a search skipped, so that an incomplete answer never looks complete. */
export const Unsearched = {
  unparsed: z
    .array(Uri)
    .optional()
    .describe("Files too large or too slow to parse, at most 20; their symbols are missing here"),
  incomplete: z.string().optional().describe("Why results may be missing, and what to do"),
};

const MAX_UNPARSED = 20;

export const noteUnsearched = ({
  unparsed,
  waiting = 0,
}: {
  unparsed: readonly Path[];
  waiting?: number;
}) => ({
  ...(unparsed.length > 0 && { unparsed: unparsed.slice(0, MAX_UNPARSED).map(pathToUri) }),
  ...(waiting > 0 && {
    incomplete: `${waiting} more files contain the name and were not parsed; the index is being built, so ask again soon or give a scope`,
  }),
});

export const ByName = z
  .string()
  .optional()
  .describe("Says when other symbols with this name may be included");

/** Says that an answer is by name, why no server gave it, and in which ways it may be wrong. */
export async function noteByName(
  code: Code,
  path: Path,
  { backend, passedOver }: Pick<Answered<unknown>, "backend" | "passedOver">,
): Promise<{ readonly note?: string }> {
  if (backend && !backend.matchesNames) return {};
  const why = passedOver ?? (await whyNoServer(code, path));
  return {
    note: `matched by name: other symbols with this name may be included, and uses under another name, or made by macros or reflection, are missing (${why})`,
  };
}

/** Why no language server answers for a file, and what to do about it. */
export async function whyNoServer({ servers }: Pick<Code, "servers">, path: Path): Promise<string> {
  const found = await servers.find(path);
  if (!("server" in found)) return `no language server was found; ${found.how}`;
  const { name, running } = found.server;
  const trouble = running?.trouble();
  if (trouble !== undefined) return cannotLoad(name, trouble);
  return (
    found.server.failure() ?? found.server.lacks(path) ?? `${name} did not answer in time; ask again soon`
  );
}

/** The uses that a server's answer does not cover. */
export const noteIncomplete = ({ isLoading, trouble, name }: CodeBackend) => {
  const problem = trouble?.();
  if (problem !== undefined) return { incomplete: `${cannotLoad(name, problem)}; uses may be missing` };
  return isLoading?.() ? { incomplete: LOADING } : {};
};

const LOADING = "the language server is still loading the project, so uses may be missing; ask again soon";

const MAX_FILES = 20;

/** Other places where the name occurs, so that the sum agrees with a search for the word. */
export const NotListed = z
  .object({
    other_symbols: z.int().optional().describe("Uses of other symbols with this name"),
    unchecked: z.int().optional().describe("Uses of the name that the server was not asked about"),
    in_text: z.int().optional().describe("In comments, strings and other text of such files"),
    files: z.array(Uri).optional().describe("Files of other kinds or roots with the word; at most 20"),
    unread: z
      .array(Uri)
      .optional()
      .describe("Files with the word that are too large or not text; at most 20"),
  })
  .optional()
  .describe("Where the name stands besides the results");

export function noteNotListed(
  { inText, elsewhere, unread }: Pick<NamedUses, "inText" | "elsewhere" | "unread">,
  { other, unasked }: Pick<CrossCheck, "other" | "unasked"> = { other: 0, unasked: 0 },
) {
  const toUris = (paths: readonly Path[]) => paths.slice(0, MAX_FILES).map(pathToUri);
  const not_listed = {
    ...(other > 0 && { other_symbols: other }),
    ...(unasked > 0 && { unchecked: unasked }),
    ...(inText > 0 && { in_text: inText }),
    ...(elsewhere.length > 0 && { files: toUris(elsewhere) }),
    ...(unread.length > 0 && { unread: toUris(unread) }),
  };
  return Object.keys(not_listed).length > 0 ? { not_listed } : {};
}

/** The sentences of a text answer about it. */
export const notListedNotes = (
  data: z.output<typeof NotListed>,
  path: (uri: string) => string,
): (string | undefined)[] => {
  if (!data) return [];
  const { other_symbols, unchecked, in_text, files, unread } = data;
  return [
    other_symbols && `${counted(other_symbols, "use")} of other symbols with this name`,
    unchecked && `${counted(unchecked, "more use")} of the name not compared with the server`,
    in_text && `${in_text} in comments or strings`,
    files && `the word is also in ${files.map(path).join(", ")}`,
    unread && `not read, too large or not text: ${unread.map(path).join(", ")}`,
  ].filter((note) => typeof note === "string");
};
