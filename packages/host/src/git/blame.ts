import type { Path } from "../path.ts";
import type { Repository } from "./git.ts";

export interface BlameOptions {
  readonly path: Path;
  /** The file in this commit; the one on disk when absent. */
  readonly commit?: string;
  /** From 0. */
  readonly line: number;
  readonly lines: number;
}

export type BlameGroup = ReturnType<typeof toGroup>;

export async function readBlame(repository: Repository, options: BlameOptions) {
  const { path, commit, line, lines } = options;
  const args = [
    "blame",
    "--porcelain",
    "--no-textconv",
    "--no-progress",
    // Git quotes lines of that file, and a setting can only add further files.
    "--no-ignore-revs-file",
    "-L",
    `${line + 1},+${lines}`,
    ...(commit === undefined ? [] : [commit]),
    "--",
    repository.toName(path),
  ];
  const { stdout } = await repository.run(args);
  return parseBlame(stdout);
}

const LINE = /^([0-9a-f]{40,64}) \d+ (\d+)/;

/**
 * Groups of lines that follow each other and come from one commit. git prints a header for each line, facts about a
 * commit when it is met first, then the line behind a tab.
 */
export function parseBlame(output: Buffer): BlameGroup[] {
  const commits = new Map<string, Map<string, string>>();
  const groups: BlameGroup[] = [];
  let facts = new Map<string, string>();
  let [hash, line] = ["", 0];
  for (const row of output.toString().split("\n")) {
    const header = LINE.exec(row);
    if (row.startsWith("\t")) {
      const last = groups.at(-1);
      const group = toGroup(hash, line, facts, row.slice(1));
      if (last?.hash === group.hash && last.name === group.name && last.line + last.text.length === line)
        last.text.push(row.slice(1));
      else groups.push(group);
    } else if (header) {
      hash = header[1]!;
      line = Number(header[2]) - 1;
      facts = new Map(commits.get(hash));
      commits.set(hash, facts);
    } else {
      const cut = row.indexOf(" ");
      if (cut > 0) facts.set(row.slice(0, cut), row.slice(cut + 1));
    }
  }
  return groups;
}

function toGroup(hash: string, line: number, facts: ReadonlyMap<string, string>, text: string) {
  const fact = (name: string) => facts.get(name) ?? "";
  return {
    /** null: not committed yet. */
    hash: /^0+$/.test(hash) ? null : hash,
    author: fact("author"),
    email: fact("author-mail").replace(/^<|>$/g, ""),
    date: toIso(Number(fact("author-time")), fact("author-tz")),
    summary: fact("summary"),
    /** The file's name in that commit. */
    name: fact("filename"),
    /** From 0, in the file that was asked for. */
    line,
    text: [text],
  };
}

const MS_PER_MINUTE = 60_000;

/** The time in the author's time zone, which is written as `+0200`. */
function toIso(seconds: number, zone: string): string {
  const [, sign, hours = "00", minutes = "00"] = /^([+-])(\d{2})(\d{2})$/.exec(zone) ?? [];
  const offset = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  const local = new Date(seconds * 1_000 + offset * MS_PER_MINUTE);
  const text = Number.isNaN(local.getTime())
    ? "1970-01-01T00:00:00"
    : local.toISOString().slice(0, -".000Z".length);
  return `${text}${sign ?? "+"}${hours}:${minutes}`;
}
