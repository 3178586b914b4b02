import { action, pagingInput, Uri } from "@octant/core";
import { isShallow, pathToUri, type Repository, readStatus, type Status } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import { openStoredRows } from "../stored-rows.ts";
import { openRepository, Repo, short, type VcsWorkspace } from "./workspace.ts";

const Change = z.enum(["added", "modified", "deleted", "renamed", "copied", "type_changed"]);
const Side = z
  .object({ id: z.string().describe("Pass as `ref` to vcs.show to read the content"), mode: z.string() })
  .nullable()
  .describe("null: absent on this side");

const Entry = z.object({
  uri: Uri,
  kind: z.enum(["changed", "conflict", "untracked", "ignored"]),
  staged: Change.optional(),
  unstaged: Change.optional(),
  renamed_from: Uri.optional(),
  conflict: z
    .object({
      kind: z.enum([
        "both_deleted",
        "added_by_us",
        "deleted_by_them",
        "added_by_them",
        "deleted_by_us",
        "both_added",
        "both_modified",
      ]),
      base: Side,
      ours: Side,
      theirs: Side,
    })
    .optional(),
  folder: z.literal(true).optional().describe("A folder; stands for everything inside"),
  submodule: z.literal(true).optional(),
});

export const Head = {
  branch: z.string().nullable().describe("null: HEAD is detached"),
  head: z.string().nullable().describe("null: no commit yet"),
};

export const status = (workspace: VcsWorkspace) =>
  action({
    summary: "Show branch, upstream, operation in progress, and changed, staged, new and conflicting files.",
    ...INSPECT,
    input: z.strictObject({
      path: Uri.optional(),
      ignored: z.boolean().default(false).describe("Include ignored files"),
      repo: Repo,
      ...pagingInput(200, 10_000),
    }),
    output: z.object({
      ...Head,
      upstream: z.string().nullable(),
      ahead: z.int().optional(),
      behind: z.int().optional(),
      operation: z
        .object({
          kind: z.enum(["merge", "rebase", "am", "cherry-pick", "revert", "bisect"]),
          commit: z.string().optional().describe("The commit being merged or applied"),
          branch: z.string().optional(),
          step: z.int().optional(),
          steps: z.int().optional(),
        })
        .nullable()
        .describe("The operation in progress"),
      shallow: z.literal(true).optional(),
      top: Uri.describe("Working tree, inside the workspace"),
      clean: z.boolean(),
      counts: z.object({
        staged: z.int(),
        unstaged: z.int(),
        untracked: z.int(),
        conflicts: z.int(),
        ignored: z.int(),
      }),
      entries: z.array(Entry),
    }),
    errors: ["NOT_A_REPOSITORY", "OUTSIDE_WORKSPACE", "INVALID_CURSOR", "VCS_ERROR", "UNSUPPORTED"],
    examples: [{ title: "Working tree status", input: {} }],
    text(data, { path }) {
      const { branch, head, upstream, ahead = 0, behind = 0, operation, clean, entries } = data;
      const lines = entries.map(({ uri, kind, staged, unstaged, renamed_from, conflict, folder }) => {
        const states = [staged && `staged ${staged}`, unstaged, conflict?.kind].filter(Boolean).join(", ");
        const from = renamed_from === undefined ? "" : ` (from ${path(renamed_from)})`;
        return `${states || kind}: ${path(uri)}${folder ? "/" : ""}${from}`;
      });
      const distance = upstream && (ahead || behind) ? ` (${ahead} ahead, ${behind} behind)` : "";
      const title = [
        branch === null
          ? `detached at ${short(head)}`
          : `on ${branch}${head === null ? ", no commit yet" : ` at ${short(head)}`}`,
        upstream && `upstream ${upstream}${distance}`,
        operation &&
          `${operation.kind} in progress${operation.step ? ` (${operation.step}/${operation.steps})` : ""}`,
        clean && "clean",
      ];
      return { body: [title.filter(Boolean).join("; "), ...lines].join("\n") };
    },
    async run({ path: asked, ignored, repo, limit }, ctx) {
      const { repository, path } = openRepository(workspace, asked, repo, ctx);
      const { whole, from, more } = await openStoredRows(ctx, workspace.blobs, async () =>
        toAnswer(repository, await readStatus(repository, { path, ignored })),
      );
      const end = from + limit;
      if (end < whole.entries.length) more(end);
      return from === 0 && end >= whole.entries.length
        ? whole
        : { ...whole, entries: whole.entries.slice(from, end) };
    },
  });

function toAnswer(repository: Repository, { entries, ...state }: Status) {
  const count = (is: (entry: Status["entries"][number]) => boolean) => entries.filter(is).length;
  const counts = {
    staged: count(({ staged }) => staged !== undefined),
    unstaged: count(({ unstaged }) => unstaged !== undefined),
    untracked: count(({ kind }) => kind === "untracked"),
    conflicts: count(({ kind }) => kind === "conflict"),
    ignored: count(({ kind }) => kind === "ignored"),
  };
  return {
    ...state,
    shallow: isShallow(repository) || undefined,
    top: pathToUri(repository.folder),
    clean: entries.length === counts.ignored,
    counts,
    entries,
  };
}
