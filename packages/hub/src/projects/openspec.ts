import type { RunGit } from "../workspaces/git-repository.ts";

/** A change of an OpenSpec folder: `openspec/changes/<id>`, or `openspec/changes/archive/<id>` once it is done. */
export interface OpenSpecChange {
  readonly change_id: string;
  readonly archived: boolean;
  /** The first heading of its proposal; the id when it has none. */
  readonly title: string;
  /** Files within its folder. */
  readonly files: readonly string[];
  readonly tasks_done: number;
  readonly tasks_total: number;
}

export interface OpenSpecTask {
  readonly change_id: string;
  /** Such as 1.2; absent where the task has none. */
  readonly number?: string;
  /** The heading above it. */
  readonly group?: string;
  readonly text: string;
  readonly done: boolean;
}

const CHANGES = "openspec/changes";
const CHANGE_PATH = /^openspec\/changes\/(?<archive>archive\/)?(?<id>[^/]+)\/(?<file>.+)$/;
const TASK = /^\s*[-*] \[(?<mark>[ xX])\]\s+(?:(?<number>\d+(?:\.\d+)*)\.?\s+)?(?<text>.*\S)\s*$/;
const HEADING = /^#{1,6}\s+(?<text>.*\S)\s*$/;
/** Larger files are not read: a person writes these by hand. */
const MAX_FILE_CHARS = 1_000_000;

/** Reads the OpenSpec folder of a commit; the files come from a repository and are data only. */
export function createOpenSpecReader(git: RunGit, commit: string) {
  const read = async (path: string): Promise<string> => {
    const { code, stdout } = await git(["cat-file", "blob", `${commit}:${path}`], { also: [128] });
    return code === 0 ? stdout.slice(0, MAX_FILE_CHARS) : "";
  };
  const folderOf = ({ change_id, archived }: Pick<OpenSpecChange, "change_id" | "archived">) =>
    `${CHANGES}/${archived ? "archive/" : ""}${change_id}`;
  const tasksOf = async (change: Pick<OpenSpecChange, "change_id" | "archived">) =>
    parseTasks(change.change_id, await read(`${folderOf(change)}/tasks.md`));
  return {
    tasksOf,
    readFile: (change: OpenSpecChange, file: string) => read(`${folderOf(change)}/${file}`),
    /** By id; active ones first. */
    async list(): Promise<readonly OpenSpecChange[]> {
      const { stdout } = await git(["ls-tree", "-r", "-z", "--name-only", commit, "--", `${CHANGES}/`]);
      const found = new Map<string, { change_id: string; archived: boolean; files: string[] }>();
      for (const path of stdout.split("\0")) {
        const { archive, id, file } = CHANGE_PATH.exec(path)?.groups ?? {};
        if (id === undefined || file === undefined) continue;
        const key = `${archive ?? ""}${id}`;
        const change = found.get(key) ?? { change_id: id, archived: archive !== undefined, files: [] };
        change.files.push(file);
        found.set(key, change);
      }
      const changes = await Promise.all(
        [...found.values()].map(async (change) => {
          const tasks = change.files.includes("tasks.md") ? await tasksOf(change) : [];
          const proposal = change.files.includes("proposal.md")
            ? await read(`${folderOf(change)}/proposal.md`)
            : "";
          return {
            ...change,
            title: titleOf(proposal) ?? change.change_id,
            tasks_done: tasks.filter(({ done }) => done).length,
            tasks_total: tasks.length,
          };
        }),
      );
      return changes.toSorted(
        (one, other) =>
          Number(one.archived) - Number(other.archived) || (one.change_id < other.change_id ? -1 : 1),
      );
    },
  };
}

/** The check list of a tasks.md. */
export function parseTasks(change_id: string, text: string): readonly OpenSpecTask[] {
  const tasks: OpenSpecTask[] = [];
  let group: string | undefined;
  for (const line of text.split("\n")) {
    const heading = HEADING.exec(line)?.groups?.["text"];
    if (heading !== undefined) group = heading;
    const { mark, number, text: task } = TASK.exec(line)?.groups ?? {};
    if (mark === undefined || task === undefined) continue;
    tasks.push({
      change_id,
      text: task,
      done: mark !== " ",
      ...(number !== undefined && { number }),
      ...(group !== undefined && { group }),
    });
  }
  return tasks;
}

const titleOf = (proposal: string): string | undefined => {
  for (const line of proposal.split("\n")) {
    const text = HEADING.exec(line)?.groups?.["text"];
    if (text !== undefined) return text.replace(/^(?:Change|Proposal):\s*/i, "");
  }
  return undefined;
};
