import type { Client } from "./clients.ts";
import type { ConfigFormat, Entry } from "./config-format.ts";
import { jsonc } from "./jsonc.ts";
import type { Launch } from "./launch.ts";
import { toml } from "./toml.ts";

export const formatOf = ({ format }: Client): ConfigFormat => (format === "toml" ? toml : jsonc);

/** The name of our entry in every file. */
export const SERVER_NAME = "octant";

/** The command of an entry. */
export interface Start {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** The fields that we set; other fields of the entry stay. */
export function toFields({ types, isListed }: Client, { command, args }: Launch): Entry {
  const type = types && { type: types.started };
  return isListed ? { ...type, command: [command, ...args] } : { ...type, command, args: [...args] };
}

/** undefined when the entry starts no program, such as a remote server's. */
export function toStart({ isListed }: Client, entry: Entry): Start | undefined {
  const [command, ...args] = isListed
    ? stringsIn(entry["command"])
    : [...stringsIn([entry["command"]]), ...stringsIn(entry["args"])];
  if (command === undefined) return undefined;
  const { cwd } = entry;
  return {
    command,
    args,
    env: textsIn(entry[isListed ? "environment" : "env"]),
    ...(typeof cwd === "string" && { cwd }),
  };
}

/** The address in an entry without a program. Clients use different field names. */
export function toUrl(entry: Entry): URL | undefined {
  const [text] = stringsIn([entry["url"], entry["httpUrl"], entry["serverUrl"]]);
  return text === undefined ? undefined : (URL.parse(text) ?? undefined);
}

/** The flags after `serve`; undefined when the entry starts something else. */
export function flagsIn(start: Start | undefined): readonly string[] | undefined {
  const at = start?.args.indexOf("serve") ?? -1;
  return at < 0 ? undefined : start?.args.slice(at + 1);
}

/** Replaces the roots in the flags. */
export function withRoots(flags: readonly string[], roots: readonly string[]): string[] {
  const others = flags.filter(
    (flag, at) => flag !== "--root" && flags[at - 1] !== "--root" && !flag.startsWith("--root="),
  );
  return [...others, ...toRootFlags(roots)];
}

/** The models of all clients read text; a form that the person has chosen stays. */
export const withAnswers = (flags: readonly string[]): readonly string[] =>
  flags.some((flag) => /^--answers(=|$)/.test(flag)) ? flags : [...flags, "--answers", "text"];

/**
 * The flags and fields of an entry for which Octant approves in the client's place; neither changes when the person has
 * chosen either.
 */
export function withApproval({ leavesApproval }: Client, entry: Entry | undefined, flags: readonly string[]) {
  const isChosen =
    flags.some((flag) => /^--permissions(=|$)/.test(flag)) ||
    Object.keys(leavesApproval ?? {}).some((field) => entry?.[field] !== undefined);
  if (!leavesApproval || isChosen) return { flags, fields: {} };
  return { flags: [...flags, "--permissions", "enforce"], fields: leavesApproval };
}

/** A client that starts servers elsewhere needs the project's folder, preferably as its own placeholder. */
export const defaultFlags = ({ projectWord }: Client, folder: string): string[] =>
  projectWord === undefined ? [] : toRootFlags([projectWord ?? folder]);

const toRootFlags = (roots: readonly string[]) => roots.flatMap((root) => ["--root", root]);

const stringsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];

function textsIn(value: unknown): Record<string, string> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, text]) => typeof text === "string"));
}
