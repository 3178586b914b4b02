import { action, Hash, Lines, pagingInput, Range, staleCursor, ToolError, toRange, Uri } from "@octant/core";
import { type BlameGroup, findCommit, hashOf, type Repository, readBlame, readFileAt } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import { readBytes } from "../read-bytes.ts";
import { CONTENT_ERRORS, GitRef, openRepository, Repo, short, type VcsWorkspace } from "./workspace.ts";

const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** Where to continue, and in which content; the lines of changed content are different. */
const Position = z.strictObject({ commit: z.string().optional(), hash: Hash, line: z.int().min(1) });

export const blame = (workspace: VcsWorkspace) =>
  action({
    summary: "Show who last changed each line of a file, when and in which commit.",
    ...INSPECT,
    input: z.strictObject({
      path: Uri,
      ref: GitRef.optional(),
      range: Range.optional(),
      lines: Lines.optional(),
      repo: Repo,
      ...pagingInput(200, 2_000),
    }),
    output: z.object({
      groups: z
        .array(
          z.object({
            hash: z.string().nullable().describe("null: not committed yet"),
            author: z.string(),
            email: z.string(),
            date: z.string(),
            summary: z.string(),
            path: z.string().optional().describe("The file's name in that commit, if different"),
            line: z.int().describe("0-based"),
            text: z.array(z.string()).readonly(),
          }),
        )
        .describe("Consecutive lines of one commit; limit counts lines"),
      line_count: z.int(),
    }),
    errors: CONTENT_ERRORS,
    examples: [{ title: "Blame a range", input: { path: "src/main.ts" } }],
    text: ({ groups }) => ({
      body: groups
        .flatMap(({ hash, author, date, line, text }) => [
          `${hash === null ? "not committed" : short(hash)} ${author} ${date.slice(0, 10)}`,
          ...text.map((one, n) => `  ${line + n + 1}: ${one}`),
        ])
        .join("\n"),
    }),
    async run({ path: asked, ref, range: asRange, lines: asLines, repo, limit }, ctx) {
      const range = toRange({ range: asRange, lines: asLines });
      const { repository, path } = openRepository(workspace, asked, repo, ctx);
      // It was given, so it is defined.
      const file = path as string;
      const position = ctx.resume(Position);
      const commit = position?.commit ?? (ref === undefined ? undefined : await findCommit(repository, ref));
      const bytes =
        commit === undefined ? readWhole(workspace, file) : await readFileAt(repository, commit, file);
      const hash = hashOf(bytes);
      if (position && position.hash !== hash) throw staleCursor();
      const line_count = countLines(bytes);
      const line = position?.line ?? Math.min(range?.start.line ?? 0, line_count);
      const end = Math.min(toEnd(range, line_count), line_count);
      const lines = Math.min(limit, end - line);
      if (lines <= 0) return { groups: [], line_count };
      const groups = await readBlame(repository, { path: file, commit, line, lines });
      if (line + lines < end) ctx.more({ commit, hash, line: line + lines });
      return { groups: groups.map((group) => toGroup(repository, file, group)), line_count };
    },
  });

function readWhole({ confinement }: VcsWorkspace, path: string): Buffer {
  using file = confinement.openFile(path);
  const { size } = file.stat;
  if (size > MAX_FILE_BYTES) {
    const message = `the file has ${size} bytes, more than the ${MAX_FILE_BYTES} that blame looks through`;
    throw new ToolError("TOO_LARGE", message, { limit: MAX_FILE_BYTES, actual: size, what: "bytes" });
  }
  return readBytes(file.fd, size);
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = 0; at < bytes.length; lines++) {
    const end = bytes.indexOf(10, at);
    at = end < 0 ? bytes.length : end + 1;
  }
  return lines;
}

/** The line after the last one; an end at column 0 excludes its line. */
function toEnd(range: Range | undefined, all: number): number {
  if (!range) return all;
  return range.end.col > 0 ? range.end.line + 1 : range.end.line;
}

const toGroup = ({ top }: Repository, path: string, { name, ...group }: BlameGroup) => ({
  ...group,
  path: `${top === "/" ? "" : top}/${name}` === path ? undefined : name.toWellFormed(),
});
