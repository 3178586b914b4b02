import { lstatSync } from "node:fs";
import { invalidArgument, Uri } from "@octant/core";
import { z } from "zod";
import { type Confinement, FileKind, kindOf } from "../confinement.ts";
import { type Path, pathToUri } from "../path.ts";
import { byteStringToPath, pathToByteString } from "./byte-string.ts";
import { parseRule, type Rule } from "./ignore-rules.ts";
import { toTimestamp } from "./timestamp.ts";
import { type WalkOptions, walk } from "./walk.ts";

export interface ListOptions extends Omit<WalkOptions, "env"> {
  /** How many levels; 1 is the folder's own entries. */
  readonly depth: number;
  /** A glob as in ignore files: without a slash it matches names, with one it matches paths from the folder. */
  readonly pattern?: string | undefined;
  readonly kind?: FileKind | undefined;
  readonly limit: number;
  /** A page also ends when its uris reach this many bytes. */
  readonly maxBytes: number;
}

export const Entry = z.object({ uri: Uri, kind: FileKind, size: z.int(), mtime: z.string() });

export interface EntryPage {
  readonly entries: z.output<typeof Entry>[];
  /** The number of folders that the operating system does not let us read. */
  readonly unreadable: number;
  /** The path to continue after; undefined at the end. */
  readonly next: Path | undefined;
}

/** One page of the entries of a tree. Only entries on the page are examined beyond their names. */
export async function listEntries(
  confinement: Confinement,
  env: NodeJS.ProcessEnv,
  options: ListOptions,
): Promise<EntryPage> {
  const { depth, kind, limit, maxBytes, pattern } = options;
  const filter = pattern === undefined ? undefined : parsePattern(pattern);
  const entries: EntryPage["entries"] = [];
  let bytes = 0;
  let last: Path | undefined;
  let hasMore = false;

  const { unreadable } = await walk(
    confinement,
    { ...options, env },
    {
      list({ parent, names, kind: found }) {
        if (kind !== undefined && kind !== found) return true;
        if (filter && !matches(filter, names, found === "directory")) return true;
        hasMore = last !== undefined;
        if (hasMore) return false;
        const name = byteStringToPath(names.at(-1) as string);
        const stat = lstatSync(parent.at(name), { throwIfNoEntry: false });
        if (!stat) return true;
        const mtime = toTimestamp(stat.mtimeMs);
        const uri = pathToUri(`${parent.path === "/" ? "" : parent.path}/${name}`);
        entries.push({ uri, kind: kindOf(stat), size: stat.size, mtime });
        bytes += uri.length;
        if (entries.length === limit || bytes >= maxBytes) last = names.map(byteStringToPath).join("/");
        return true;
      },
      enters: ({ names }) => names.length < depth && (!filter || mayContainMatch(filter, names)),
    },
  );
  return { entries, unreadable, next: hasMore ? last : undefined };
}

function parsePattern(pattern: string): Rule {
  const rule = parseRule(pathToByteString(pattern)) ?? { error: "it is empty or a comment" };
  if (!("error" in rule)) return rule;
  throw invalidArgument("pattern", `invalid glob '${pattern}': ${rule.error}`);
}

const matches = ({ glob, negated, onlyFolders }: Rule, names: readonly string[], isFolder: boolean) =>
  ((isFolder || !onlyFolders) && glob.matches(names, 0)) !== negated;

/** Whether to look inside a folder. One that `!pattern` leaves out is left out with all that is in it. */
const mayContainMatch = (filter: Rule, names: readonly string[]) =>
  filter.negated ? matches(filter, names, true) : filter.glob.reachesBelow(names, 0);
