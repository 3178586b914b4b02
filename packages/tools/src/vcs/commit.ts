import { action, counted, invalidArgument, ToolError, Uri } from "@octant/core";
import { emptyTree, makeCommit, type Repository, readDiffStat, readLog } from "@octant/host";
import { z } from "zod";
import { FileStat, statLine, toTotals } from "./patch-page.ts";
import { openRepository, Repo, type VcsWorkspace } from "./workspace.ts";

const MAX_MESSAGE_CHARS = 100_000;
const MAX_FILES = 10_000;
const MAX_LISTED = 200;

export const commit = (workspace: VcsWorkspace) =>
  action({
    summary: "Commit the named files, or the staged changes.",
    access: "write",
    timing: "async_short",
    intent: "ship",
    input: z.strictObject({
      message: z.string().trim().min(1).max(MAX_MESSAGE_CHARS).optional(),
      files: z
        .array(Uri)
        .min(1)
        .max(MAX_FILES)
        .optional()
        .describe("Files or folders; default the staged changes"),
      amend: z.boolean().default(false).describe("Replace the last commit"),
      repo: Repo,
    }),
    output: z.object({
      hash: z.string(),
      parents: z.array(z.string()).readonly(),
      message: z.string(),
      file_count: z.int(),
      added: z.int(),
      removed: z.int(),
      files: z.array(FileStat).describe(`The first ${MAX_LISTED}`),
    }),
    errors: ["NOT_A_REPOSITORY", "NOT_FOUND", "OUTSIDE_WORKSPACE", "LOCKED", "VCS_ERROR"],
    examples: [
      {
        title: "Commit two files only",
        input: { message: "fix: clarify the message", files: ["package.json", "src/main.ts"] },
      },
    ],
    text: ({ hash, message, file_count, added, removed, files }, { path }) => ({
      body: [message.split("\n", 1)[0], ...files.map((file) => statLine(file, path))].join("\n"),
      notes: [`${counted(file_count, "file")}, +${added} -${removed}`],
      handles: { commit: hash },
    }),
    async run({ message, files, amend, repo }, ctx) {
      ctx.backend("git");
      if (message === undefined && !amend)
        throw invalidArgument("message", "a commit needs a message; only amend keeps the last one");
      const paths = files?.map(workspace.confinement.toPath);
      const { repository } = openRepository(workspace, files?.[0], repo, ctx);
      const hash = await makeCommit(repository, { message, files: paths, amend });
      return describeCommit(repository, hash);
    },
  });

async function describeCommit(repository: Repository, hash: string) {
  const { parents, message } = await readCommit(repository, hash);
  const before = parents[0] ?? (await emptyTree(repository));
  const changed = await readDiffStat(repository, [before, hash]);
  return { hash, parents, message, ...toTotals(changed), files: changed.slice(0, MAX_LISTED) };
}

export async function readCommit(repository: Repository, hash: string) {
  const [commit] = await readLog(repository, { tip: hash, skip: 0, limit: 1, alone: true });
  if (!commit) throw new ToolError("NOT_FOUND", `there is no commit '${hash}'`, { id: hash });
  return commit;
}
