import { action, pagingInput, Uri } from "@octant/core";
import { type Commit, findCommit, findHead, isShallow, readLog } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import { withinBudget } from "../within-budget.ts";
import { GitRef, openRepository, Repo, short, type VcsWorkspace } from "./workspace.ts";

const Position = z.strictObject({ tip: z.string(), skip: z.int().min(1) });
const MAX_MESSAGE_CHARS = 4_000;

const Person = z.object({ name: z.string(), email: z.string(), date: z.string() });

export const CommitRow = {
  hash: z.string(),
  parents: z.array(z.string()).readonly(),
  author: Person,
  committer: Person.optional().describe("If different from the author"),
  message: z.string(),
  message_truncated: z.literal(true).optional(),
};

export const log = (workspace: VcsWorkspace) =>
  action({
    summary: "List commits, newest first, optionally of one path.",
    ...INSPECT,
    input: z.strictObject({
      ref: GitRef.optional(),
      path: Uri.optional(),
      follow: z.boolean().default(false).describe("Follow renames of the file"),
      repo: Repo,
      ...pagingInput(20, 1_000),
    }),
    output: z.object({
      commits: z.array(z.object(CommitRow)),
      shallow: z.literal(true).optional().describe("The clone is shallow; older commits are missing"),
    }),
    errors: ["NOT_A_REPOSITORY", "NOT_FOUND", "OUTSIDE_WORKSPACE", "INVALID_CURSOR", "VCS_ERROR"],
    examples: [
      { title: "The last commits", input: { limit: 5 } },
      {
        title: "Of one file, following renames",
        input: { path: "src/main.ts", follow: true },
      },
    ],
    text: ({ commits, shallow }) => ({
      body: commits.map((commit) => commitLines(commit, short)).join("\n") || "no commits",
      notes: [shallow && "the history is cut off: a shallow clone"],
    }),
    async run({ ref, path: asked, follow, repo, limit }, ctx) {
      const { repository, path } = openRepository(workspace, asked, repo, ctx);
      const position = ctx.resume(Position);
      const tip =
        position?.tip ?? (ref === undefined ? await findHead(repository) : await findCommit(repository, ref));
      const shallow = isShallow(repository) || undefined;
      if (tip === undefined) return { commits: [], shallow };
      const skip = position?.skip ?? 0;
      const isFollowed = follow && path !== undefined;
      const found = await readLog(repository, { tip, path, follow: isFollowed, skip, limit: limit + 1 });
      const commits = withinBudget(found.slice(0, limit).map(toRow));
      if (commits.length < found.length) ctx.more({ tip, skip: skip + commits.length });
      return { commits, shallow };
    },
  });

/** The committer only when different from the author. */
export function toRow({ author, committer, message, ...commit }: Commit) {
  const isOther =
    committer.name !== author.name || committer.email !== author.email || committer.date !== author.date;
  const isLong = message.length > MAX_MESSAGE_CHARS;
  return {
    ...commit,
    author,
    ...(isOther && { committer }),
    message: isLong ? message.slice(0, MAX_MESSAGE_CHARS).toWellFormed() : message,
    ...(isLong && { message_truncated: true as const }),
  };
}

export function commitLines(
  { hash, parents, author, message }: z.output<z.ZodObject<typeof CommitRow>>,
  hashOf: (hash: string) => string,
): string {
  const [subject = "", ...body] = message.trimEnd().split("\n");
  const title = `${hashOf(hash)} ${author.date.slice(0, 10)} ${author.name}: ${subject}`;
  const merge = parents.length > 1 ? [`  merges ${parents.map(short).join(" ")}`] : [];
  return [title, ...merge, ...body.filter((line) => line !== "").map((line) => `  ${line}`)].join("\n");
}
