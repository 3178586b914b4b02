import type { Client } from "./clients.ts";
import type { Entry } from "./config-format.ts";
import type { Launch } from "./launch.ts";

/** Under this name in every file. */
export const SERVER_NAME = "octant";

/** What a client starts for an entry. */
export interface Start {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** The fields that are ours; whatever else the person wrote into the entry stays. */
export function toFields({ entry }: Client, { command, args }: Launch): Entry {
  return entry.command === "list"
    ? { ...entry.fixed, command: [command, ...args] }
    : { ...entry.fixed, command, args: [...args] };
}

/** undefined when the entry starts nothing, as that of a server elsewhere. */
export function toStart({ entry: shape }: Client, entry: Entry): Start | undefined {
  const words =
    shape.command === "list"
      ? stringsIn(entry["command"])
      : [...stringsIn([entry["command"]]), ...stringsIn(entry["args"])];
  const [command, ...args] = words;
  if (command === undefined) return undefined;
  const { cwd } = entry;
  return { command, args, env: textsIn(entry[shape.env]), ...(typeof cwd === "string" && { cwd }) };
}

/** Where the server is that an entry names instead of a program. Clients call it differently. */
export function toUrl(entry: Entry): URL | undefined {
  const [text] = stringsIn([entry["url"], entry["httpUrl"], entry["serverUrl"]]);
  return text === undefined ? undefined : (URL.parse(text) ?? undefined);
}

/** What the person has put behind `serve`; undefined when that is not what the entry starts. */
export function flagsIn(start: Start | undefined): readonly string[] | undefined {
  const at = start?.args.indexOf("serve") ?? -1;
  return at < 0 ? undefined : start?.args.slice(at + 1);
}

/** The flags with these roots in place of others. */
export function withRoots(flags: readonly string[], roots: readonly string[]): string[] {
  const others = flags.filter(
    (flag, at) => flag !== "--root" && flags[at - 1] !== "--root" && !flag.startsWith("--root="),
  );
  return [...others, ...toRootFlags(roots)];
}

/** The form of answers, unless the person has chosen one. */
export const withAnswers = ({ answers }: Client, flags: readonly string[]): string[] =>
  answers === "structured" || flags.some((flag) => /^--answers(=|$)/.test(flag))
    ? [...flags]
    : [...flags, "--answers", answers];

/** A client that starts its servers anywhere has to be told where the project is, at best by a word of its own. */
export function defaultFlags({ startsIn }: Client, folder: string): string[] {
  return startsIn === "project" ? [] : toRootFlags([startsIn.projectWord ?? folder]);
}

const toRootFlags = (roots: readonly string[]) => roots.flatMap((root) => ["--root", root]);

const stringsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];

function textsIn(value: unknown): Record<string, string> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, text]) => typeof text === "string"));
}
