import { isUtf8 } from "node:buffer";
import { action, Hash, ofKind, Ref, Uri } from "@octant/core";
import {
  emptyTree,
  findCommit,
  findObject,
  hashOf,
  makeDiff,
  pathToUri,
  readBlob,
  readFileAt,
  toRef,
  wholeCharacters,
} from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import { readCommit } from "./commit.ts";
import { CommitRow, commitLines, toRow } from "./log.ts";
import { hiddenBy, PatchPage, patchInput, patchText, toPatchPage } from "./patch-page.ts";
import { CONTENT_ERRORS, GitRef, openRepository, Repo, type VcsWorkspace } from "./workspace.ts";

/** A commit with its patch, or a file. */
const Output = z
  .object({
    kind: z.enum(["commit", "file"]),
    ...CommitRow,
    ...PatchPage,
    text: z.string().describe("Content of the file; absent if it is not text"),
    truncated: z.boolean(),
    ref: Ref.describe("The whole file, or the whole patch when it does not fit"),
    file_hash: Hash,
    size: z.int(),
  })
  .partial()
  .required({ kind: true });

export const show = (workspace: VcsWorkspace) =>
  action({
    summary: "Show a commit's message and patch, or a file at a commit.",
    ...INSPECT,
    leavesOut: true,
    input: z.strictObject({
      ref: GitRef.default("HEAD"),
      path: ofKind("tree", Uri.optional()),
      repo: Repo,
      ...patchInput,
    }),
    output: Output,
    errors: CONTENT_ERRORS,
    examples: [
      { title: "The last commit", input: {} },
      {
        title: "A file before the last commit",
        input: { ref: "HEAD~1", path: "src/main.ts" },
      },
    ],
    text(data, reader) {
      if (data.kind === "file") {
        const body = data.text ?? `not text, ${data.size} bytes`;
        return {
          body,
          notes: [data.truncated && "cut; the ref has all of it"],
          handles: { hash: data.file_hash, ref: data.ref },
        };
      }
      // A commit has all fields of both.
      const whole = data as Required<typeof data>;
      const { body, ...rest } = patchText(whole, reader);
      return { ...rest, body: `${commitLines(whole, (hash) => hash)}\n\n${body}` };
    },
    async run({ ref, path: asked, repo, limit, max_bytes }, ctx): Promise<z.input<typeof Output>> {
      const { repository, path } = openRepository(workspace, asked, repo, ctx);
      const [, rev = ref, name] = path === undefined ? (FILE_AT.exec(ref) ?? []) : [];
      const file = name === undefined ? path : `${repository.top === "/" ? "" : repository.top}/${name}`;
      if (file !== undefined) {
        const hidden = ctx.hides(pathToUri(file));
        if (hidden) throw hiddenBy(hidden);
        const commit = await findCommit(repository, rev);
        return toFile(workspace, await readFileAt(repository, commit, file), max_bytes);
      }
      const found = await findObject(repository, ref);
      const hidden = "blob" in found && ctx.hides(null);
      if (hidden) throw hiddenBy(`${hidden}; name the file as path`);
      if ("blob" in found) return toFile(workspace, await readBlob(repository, found.blob), max_bytes);
      const commit = await readCommit(repository, found.commit);
      const page = await toPatchPage({ ctx, blobs: workspace.blobs, limit, max_bytes }, async () => {
        // For a merge, the changes relative to its first parent.
        const before = commit.parents[0] ?? (await emptyTree(repository));
        const root = workspace.confinement.roots[0]!;
        return makeDiff(repository, { trees: [before, commit.hash], root });
      });
      return { kind: "commit", ...toRow(commit), ...page };
    },
  });

/** `HEAD:src/main.ts`, as git writes it: the path is relative to the top of the repository. */
const FILE_AT = /^([^:]+):([^:]+)$/s;

function toFile({ blobs }: VcsWorkspace, bytes: Buffer, max_bytes: number): z.input<typeof Output> {
  const facts = {
    kind: "file",
    ref: toRef(blobs.put(bytes)),
    file_hash: hashOf(bytes),
    size: bytes.length,
  } as const;
  if (!isUtf8(bytes) || bytes.includes(0)) return { ...facts, truncated: true };
  const truncated = bytes.length > max_bytes;
  const head = bytes.subarray(0, max_bytes);
  return {
    ...facts,
    truncated,
    text: (truncated ? head.subarray(0, wholeCharacters(head)) : bytes).toString(),
  };
}
