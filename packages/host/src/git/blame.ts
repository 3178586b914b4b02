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

/** Lines that follow each other and come from one commit. */
export interface BlameGroup {
  /** null: not committed yet. */
  readonly hash: string | null;
  readonly author: string;
  readonly email: string;
  /** Seconds since 1970, and the zone as `+0200`. */
  readonly time: number;
  readonly zone: string;
  readonly summary: string;
  /** The file's name in that commit. */
  readonly name: Path;
  /** From 0, in the file that was asked for. */
  readonly line: number;
  readonly text: readonly string[];
}

export async function readBlame(repository: Repository, options: BlameOptions): Promise<BlameGroup[]> {
  const { path, commit, line, lines } = options;
  const args = [
    "blame",
    "--porcelain",
    "--no-textconv",
    "--no-progress",
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

/** A header for each line, facts about a commit when it is met first, then the line behind a tab. */
export function parseBlame(output: Buffer): BlameGroup[] {
  const commits = new Map<string, Map<string, string>>();
  const groups: (BlameGroup & { text: string[] })[] = [];
  let facts = new Map<string, string>();
  let [hash, line] = ["", 0];
  for (const row of output.toString().split("\n")) {
    const header = LINE.exec(row);
    if (row.startsWith("\t")) {
      const last = groups.at(-1);
      const group = toGroup(hash, line, facts);
      if (last?.hash === group.hash && last.name === group.name && last.line + last.text.length === line)
        last.text.push(row.slice(1));
      else groups.push({ ...group, text: [row.slice(1)] });
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

function toGroup(hash: string, line: number, facts: ReadonlyMap<string, string>): Omit<BlameGroup, "text"> {
  const fact = (name: string) => facts.get(name) ?? "";
  return {
    hash: /^0+$/.test(hash) ? null : hash,
    author: fact("author"),
    email: fact("author-mail").replace(/^<|>$/g, ""),
    time: Number(fact("author-time")),
    zone: fact("author-tz"),
    summary: fact("summary"),
    name: fact("filename"),
    line,
  };
}
