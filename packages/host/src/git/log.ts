import { existsSync } from "node:fs";
import { type Path, toNative } from "../path.ts";
import type { Repository } from "./git.ts";

export type Commit = ReturnType<typeof parseLog>[number];

export interface LogOptions {
  /** The commit to start from. */
  readonly tip: string;
  readonly path?: Path;
  /** Across renames of the one file at `path`. */
  readonly follow?: boolean;
  /** Just that commit, wherever its changes are. */
  readonly alone?: boolean;
  readonly skip: number;
  readonly limit: number;
}

export async function readLog(repository: Repository, options: LogOptions) {
  const { tip, path, follow = false, alone = false, skip, limit } = options;
  const isPart = !alone && (path !== undefined || repository.top !== repository.folder);
  const args = [
    "log",
    "-z",
    `--format=${FORMAT}`,
    "--no-color",
    "--no-notes",
    "--no-mailmap",
    "--no-show-signature",
    "--no-patch",
    `--skip=${skip}`,
    `--max-count=${limit}`,
    ...(follow ? ["--follow"] : []),
    tip,
    ...(isPart ? ["--", path === undefined ? "." : repository.toName(path)] : ["--"]),
  ];
  const { stdout } = await repository.run(args);
  return parseLog(stdout);
}

/** Whether the history ends where it was cut off. */
export const isShallow = ({ commonDir }: Repository): boolean => existsSync(toNative(`${commonDir}/shallow`));

const FIELDS = ["%H", "%P", "%an", "%ae", "%aI", "%cn", "%ce", "%cI", "%B"] as const;
const FORMAT = FIELDS.join("%x00");

/** A NUL after each field, and after each commit. */
export function parseLog(output: Buffer) {
  const fields = output.toString().split("\0");
  return Array.from({ length: Math.floor(fields.length / FIELDS.length) }, (_, n) => {
    const [hash = "", parents = "", ...rest] = fields.slice(n * FIELDS.length, (n + 1) * FIELDS.length);
    const [name = "", email = "", date = "", byName = "", byEmail = "", byDate = "", message = ""] = rest;
    return {
      hash,
      parents: parents === "" ? [] : parents.split(" "),
      author: { name, email, date },
      committer: { name: byName, email: byEmail, date: byDate },
      message: message.trimEnd(),
    };
  });
}
