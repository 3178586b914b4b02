import { type ActionText, counted, type Reader } from "@octant/core";
import type { z } from "zod";
import type { CommitRow } from "./log.ts";
import type { FileStat, PatchPage } from "./patch-page.ts";

const SHORT_HASH_CHARS = 10;
const short = (hash: string | null | undefined) => hash?.slice(0, SHORT_HASH_CHARS) ?? "";

type Commit = z.output<z.ZodObject<typeof CommitRow>>;
type Patch = z.output<z.ZodObject<typeof PatchPage>>;

interface StatusData {
  readonly branch: string | null;
  readonly head: string | null;
  readonly upstream: string | null;
  readonly ahead?: number | undefined;
  readonly behind?: number | undefined;
  readonly operation: {
    readonly kind: string;
    readonly step?: number | undefined;
    readonly steps?: number | undefined;
  } | null;
  readonly clean: boolean;
  readonly entries: readonly {
    readonly uri: string;
    readonly kind: string;
    readonly staged?: string | undefined;
    readonly unstaged?: string | undefined;
    readonly renamed_from?: string | undefined;
    readonly conflict?: { readonly kind: string } | undefined;
    readonly folder?: true | undefined;
  }[];
}

export function statusText(data: StatusData, { path }: Reader): ActionText {
  const { branch, head, upstream, ahead = 0, behind = 0, operation, clean, entries } = data;
  const lines = entries.map(({ uri, kind, staged, unstaged, renamed_from, conflict, folder }) => {
    const states = [staged && `staged ${staged}`, unstaged, conflict?.kind].filter(Boolean).join(", ");
    const from = renamed_from === undefined ? "" : ` (from ${path(renamed_from)})`;
    return `${states || kind}: ${path(uri)}${folder ? "/" : ""}${from}`;
  });
  const distance = upstream && (ahead || behind) ? ` (${ahead} ahead, ${behind} behind)` : "";
  const title = [
    branch === null
      ? `detached at ${short(head)}`
      : `on ${branch}${head === null ? ", no commit yet" : ` at ${short(head)}`}`,
    upstream && `upstream ${upstream}${distance}`,
    operation &&
      `${operation.kind} in progress${operation.step ? ` (${operation.step}/${operation.steps})` : ""}`,
    clean && "clean",
  ];
  return { body: [title.filter(Boolean).join("; "), ...lines].join("\n") };
}

/** The patch as git prints it; oversized files are listed with their refs. */
export function patchText(data: Patch, { path }: Reader): ActionText {
  const { files, patch, ref, file_count, added, removed, left_out, left_out_count } = data;
  const apart = files.filter(({ ref: own, added: lines }) => own !== undefined || lines === null);
  const lines = apart.map(
    (file) => `${statLine(file, path)}${file.ref ? `  ref ${file.ref}` : "  (not text)"}`,
  );
  return {
    body: [patch.replace(/\n$/, ""), ...lines].filter(Boolean).join("\n") || "no changes",
    notes: [
      file_count > 0 && `${counted(file_count, "file")}, +${added} -${removed}`,
      left_out &&
        `${counted(left_out_count ?? left_out.length, "file")} left out by a permission rule: ${left_out.map(path).join(", ")}`,
    ],
    handles: { ref },
  };
}

type Stat = z.output<typeof FileStat>;

function statLine({ uri, change, renamed_from, added, removed }: Stat, path: Reader["path"]): string {
  const from = renamed_from === undefined ? "" : ` (from ${path(renamed_from)})`;
  return `${change}: ${path(uri)}${from}${added === null ? "" : `, +${added} -${removed}`}`;
}

function commitLines({ hash, parents, author, message }: Commit, hashOf: (hash: string) => string): string {
  const [subject = "", ...body] = message.trimEnd().split("\n");
  const title = `${hashOf(hash)} ${author.date.slice(0, 10)} ${author.name}: ${subject}`;
  const merge = parents.length > 1 ? [`  merges ${parents.map(short).join(" ")}`] : [];
  return [title, ...merge, ...body.filter((line) => line !== "").map((line) => `  ${line}`)].join("\n");
}

interface LogData {
  readonly commits: readonly Commit[];
  readonly shallow?: true | undefined;
}

export const logText = ({ commits, shallow }: LogData): ActionText => ({
  body: commits.map((commit) => commitLines(commit, short)).join("\n") || "no commits",
  notes: [shallow && "the history is cut off: a shallow clone"],
});

type ShowData = Partial<Commit> &
  Partial<Patch> & {
    readonly kind: "commit" | "file";
    readonly text?: string | undefined;
    readonly truncated?: boolean | undefined;
    readonly file_hash?: string | undefined;
    readonly size?: number | undefined;
  };

export function showText(data: ShowData, reader: Reader): ActionText {
  if (data.kind === "file") {
    const body = data.text ?? `not text, ${data.size} bytes`;
    return {
      body,
      notes: [data.truncated && "cut; the ref has all of it"],
      handles: { hash: data.file_hash, ref: data.ref },
    };
  }
  // A commit has all fields of both.
  const whole = data as Commit & Patch;
  const { body, ...rest } = patchText(whole, reader);
  return { ...rest, body: `${commitLines(whole, (hash) => hash)}\n\n${body}` };
}

interface BlameData {
  readonly groups: readonly {
    readonly hash: string | null;
    readonly author: string;
    readonly date: string;
    readonly line: number;
    readonly text: readonly string[];
  }[];
}

export const blameText = ({ groups }: BlameData): ActionText => ({
  body: groups
    .flatMap(({ hash, author, date, line, text }) => [
      `${hash === null ? "not committed" : short(hash)} ${author} ${date.slice(0, 10)}`,
      ...text.map((one, n) => `  ${line + n + 1}: ${one}`),
    ])
    .join("\n"),
});

interface BranchData {
  readonly branches?:
    | readonly {
        readonly name: string;
        readonly hash: string;
        readonly current: boolean;
        readonly upstream: string | null;
        readonly ahead: number;
        readonly behind: number;
        readonly subject: string;
      }[]
    | undefined;
  readonly name?: string | undefined;
  readonly hash?: string | undefined;
}

export function branchText({ branches, name, hash }: BranchData): ActionText {
  if (!branches) return { body: `${name} at ${short(hash)}` };
  const lines = branches.map((one) => {
    const distance = one.ahead || one.behind ? ` [${one.ahead} ahead, ${one.behind} behind]` : "";
    const upstream = one.upstream ? ` -> ${one.upstream}${distance}` : "";
    return `${one.current ? "* " : "  "}${one.name} ${short(one.hash)}${upstream} ${one.subject}`;
  });
  return { body: lines.join("\n") || "no branches" };
}

interface CommitData {
  readonly hash: string;
  readonly message: string;
  readonly file_count: number;
  readonly added: number;
  readonly removed: number;
  readonly files: readonly Stat[];
}

export const commitText = (data: CommitData, { path }: Reader): ActionText => ({
  body: [data.message.split("\n", 1)[0], ...data.files.map((file) => statLine(file, path))].join("\n"),
  notes: [`${counted(data.file_count, "file")}, +${data.added} -${data.removed}`],
  handles: { commit: data.hash },
});

interface HeadData {
  readonly branch: string | null;
  readonly head: string | null;
  readonly changes: number;
}

export const checkoutText = ({ branch, head, changes }: HeadData): ActionText => ({
  body: `${branch === null ? "detached" : `on ${branch}`} at ${short(head)}${changes > 0 ? `, ${counted(changes, "changed file")} carried along` : ""}`,
});
