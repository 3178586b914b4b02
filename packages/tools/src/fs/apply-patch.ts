import { action, HashPrefix, ofKind, PatchId, type Reader, Ref, shortHash, Uri } from "@octant/core";
import { type Edits, FileReport, MAX_FILES, type PatchResult, StructuredEdit } from "@octant/host";
import { z } from "zod";
import { type DiagnosticsAfterEdit, NewProblems, newProblemLines } from "../code/diagnostics-after-edit.ts";
import { APPLY, DISK_ERRORS, EditNote, PATH_ERRORS } from "../kinds.ts";
import { linesWithinBudget } from "../within-budget.ts";

const MAX_HUNKS = 200;

const BoundedReport = FileReport.extend({ hunks_omitted: z.int().optional().describe("Number omitted") });

export const apply_patch = ({ edits, diagnostics }: { edits: Edits; diagnostics?: DiagnosticsAfterEdit }) =>
  action({
    summary:
      "Change existing files atomically with a unified diff, *** Begin Patch text, edits, or an undo ref.",
    ...APPLY,
    unaskedIn: "edits",
    destructive: true,
    input: z.strictObject({
      patch: ofKind(
        "patch",
        z
          .union([z.string().min(1), z.array(StructuredEdit).min(1)])
          .describe("Diff, *** Begin Patch text, edits or undo ref"),
      ),
      uri: Uri.optional(),
      base_hash: HashPrefix.optional().describe("The file's hash as you read it"),
      files: z
        .array(z.strictObject({ uri: Uri, base_hash: HashPrefix }))
        .max(MAX_FILES)
        .optional()
        .describe("For several files; not needed for links"),
      dry_run: z.boolean().default(false),
    }),
    output: z.object({
      patch_id: PatchId,
      files: z.array(BoundedReport).readonly(),
      undo: Ref.nullable().describe("Pass as `patch` to undo the change"),
      diff: z.string().optional().describe("dry_run: what would change"),
      diff_truncated: z.literal(true).optional(),
      note: EditNote,
      ...NewProblems,
    }),
    errors: [
      "PRECONDITION_REQUIRED",
      "CONFLICT",
      "PATCH_FAILED",
      "NOT_FOUND",
      "ALREADY_EXISTS",
      "NOT_A_FILE",
      "NOT_A_DIRECTORY",
      ...PATH_ERRORS,
      "UNSUPPORTED",
      "TOO_LARGE",
      ...DISK_ERRORS,
    ],
    examples: [
      {
        title: "Replace text",
        input: {
          uri: "src/main.ts",
          base_hash: "sha256:a2098bd92b10bf8b816d24b7556b1ce8c49a879d130489065ef1051c17e042f6",
          patch: [{ op: "replace", old: "42", new: "43" }],
        },
      },
      {
        title: "Preview the change",
        input: {
          base_hash: "sha256:5c8c452c74c389cf4884fd86dc68f515f8f54e9474bb54c653ba43540ca893ca",
          patch:
            "--- a/README.md\n+++ b/README.md\n@@ -1,3 +1,3 @@\n-# Demo\n+# Example\n \n A small project.\n",
          dry_run: true,
        },
      },
      {
        title: "Create a file",
        input: {
          patch: "*** Begin Patch\n*** Add File: src/two.ts\n+export const two = 2;\n*** End Patch\n",
        },
      },
      {
        title: "Create a symbolic link, in git's format",
        input: {
          patch:
            "diff --git a/latest.ts b/latest.ts\nnew file mode 120000\n--- /dev/null\n+++ b/latest.ts\n@@ -0,0 +1 @@\n+src/main.ts\n\\ No newline at end of file\n",
        },
      },
    ],
    text(data, reader) {
      const { files, undo, diff, diff_truncated } = data;
      const isDryRun = diff !== undefined;
      const [only, ...others] = files;
      const alone = only && others.length === 0;
      const lines = files.map(
        (file) =>
          changedLine(file, reader, isDryRun) + (alone || !file.hash ? "" : `  ${shortHash(file.hash)}`),
      );
      return {
        body: [...lines, ...newProblemLines(data, reader), ...(isDryRun ? [diff] : [])].join("\n"),
        notes: [
          isDryRun && "dry run, nothing changed",
          diff_truncated && "the diff is cut",
          data.diagnostics_note,
        ],
        handles: { hash: alone && !isDryRun ? only.hash : undefined, undo },
      };
    },
    preview: async (input, { signal }) => (await edits.apply({ ...input, dry_run: true }, signal)).diff,
    async run(request, { signal }) {
      const edit = () => edits.apply(request, signal);
      const uris = [
        ...(request.uri ? [request.uri] : []),
        ...(request.files ?? []).map(({ uri }) => uri),
        ...(typeof request.patch === "string" ? filesIn(request.patch) : []),
      ];
      const { result, added, note } =
        diagnostics && !request.dry_run
          ? await diagnostics.around([...new Set(uris)], edit, signal)
          : { result: await edit(), added: undefined, note: undefined };
      const { diff, files, ...rest } = result;
      const shown = diff === undefined ? undefined : linesWithinBudget(diff);
      return {
        ...rest,
        files: boundHunks(files),
        ...(shown !== undefined && { diff: shown }),
        ...(shown !== diff && { diff_truncated: true as const }),
        ...(added && { diagnostics: added }),
        ...(note !== undefined && { diagnostics_note: note }),
      };
    },
  });

/** The first files that a patch seems to change; used only to ask about them before it is applied. */
const filesIn = (patch: string): string[] =>
  [...patch.slice(0, MAX_LOOKED_AT_CHARS).matchAll(/^(?:\+\+\+ b\/|\*\*\* Update File: )([^\t\r\n]+)/gm)]
    .flatMap(([, path]) => path ?? [])
    .slice(0, MAX_ASKED_FILES);

const MAX_LOOKED_AT_CHARS = 1_000_000;
const MAX_ASKED_FILES = 10;

/** All hunks when there are few; the first ones when a patch has hundreds. */
function boundHunks(files: PatchResult["files"]) {
  let left = MAX_HUNKS;
  return files.map((file) => {
    const hunks = file.hunks.slice(0, left);
    left -= hunks.length;
    const hunks_omitted = file.hunks.length - hunks.length;
    return hunks_omitted ? { ...file, hunks, hunks_omitted } : file;
  });
}

function changedLine(file: z.output<typeof BoundedReport>, { path }: Reader, isDryRun: boolean): string {
  const { uri, match, hunks, hunks_omitted, created, deleted, renamed_from, copied_from } = file;
  const verb = deleted ? "deleted" : created ? "created" : "changed";
  const sum = (name: "added" | "removed") => hunks.reduce((all, hunk) => all + hunk[name], 0);
  const from = renamed_from ?? copied_from;
  const facts = [
    from !== undefined && `${renamed_from ? "renamed" : "copied"} from ${path(from)}`,
    hunks.length > 0 && !hunks_omitted && `+${sum("added")} -${sum("removed")}`,
    !created && !deleted && hunks.length > 0 && `at line ${hunks.map(({ line }) => line + 1).join(", ")}`,
    match === "whitespace" && "matched with other whitespace",
  ].filter(Boolean);
  return `${isDryRun ? "would be " : ""}${verb} ${path(uri)}${facts.length > 0 ? `: ${facts.join(", ")}` : ""}`;
}
