import { action, Uri } from "@octant/core";
import type { Edits } from "@octant/host";
import { z } from "zod";
import { APPLY, DISK_ERRORS, EditNote, PATH_ERRORS } from "../kinds.ts";

export const mkdir = ({ edits }: { edits: Edits }) =>
  action({
    summary: "Create a folder and its parents; an existing folder is not an error.",
    ...APPLY,
    unaskedIn: "edits",
    input: z.strictObject({ uri: Uri }),
    output: z.object({ uri: Uri, created: z.boolean(), note: EditNote }),
    errors: ["ALREADY_EXISTS", "NOT_FOUND", "NOT_A_DIRECTORY", ...PATH_ERRORS, ...DISK_ERRORS],
    examples: [{ title: "Nested folders", input: { uri: "src/new/deep" } }],
    text: ({ uri, created }, { path }) => ({
      body: created ? `created ${path(uri)}/` : `${path(uri)}/ already exists`,
    }),
    run: ({ uri }) => edits.makeFolder(uri),
  });
