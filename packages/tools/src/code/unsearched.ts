import { Uri } from "@octant/core";
import { type Path, pathToUri } from "@octant/host";
import { z } from "zod";

/** Reports what a search skipped, so that an incomplete answer never looks complete. */
export const Unsearched = {
  unparsed: z
    .array(Uri)
    .optional()
    .describe("Files that took too long to parse, at most 20; their symbols are missing here"),
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

/** A server that is still loading knows only a part of the project. */
export const noteLoading = (isLoading: boolean | undefined) =>
  isLoading
    ? {
        incomplete:
          "the language server is still loading the project, so uses may be missing; ask again soon",
      }
    : {};

export const ByName = z
  .string()
  .optional()
  .describe("Says when other symbols with this name may be included");

/** A backend without types finds too much rather than too little. */
export const noteByName = (matchesNames: true | undefined) =>
  matchesNames
    ? { note: "matched by name without a language server, so other symbols with this name may be included" }
    : {};
