import { existsSync } from "node:fs";
import { type Path, toNative } from "../path.ts";
import type { Repository } from "./git.ts";

export interface Signature {
  readonly name: string;
  readonly email: string;
  readonly date: string;
}

export interface Commit {
  readonly hash: string;
  readonly parents: readonly string[];
  readonly author: Signature;
  readonly committer: Signature;
  readonly message: string;
}

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

export async function readLog(repository: Repository, options: LogOptions): Promise<Commit[]> {
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
export function parseLog(output: Buffer): Commit[] {
  const fields = output.toString().split("\0");
  const commits: Commit[] = [];
  for (let at = 0; at + FIELDS.length <= fields.length; at += FIELDS.length) {
    const [hash = "", parents = "", name = "", email = "", date = "", ...rest] = fields.slice(
      at,
      at + FIELDS.length,
    );
    const [byName = "", byEmail = "", byDate = "", message = ""] = rest;
    commits.push({
      hash,
      parents: parents === "" ? [] : parents.split(" "),
      author: { name, email, date },
      committer: { name: byName, email: byEmail, date: byDate },
      message: message.trimEnd(),
    });
  }
  return commits;
}
