import { type ArgumentKind, Ref } from "@octant/core";
import { parsePatch, pathToUri } from "@octant/host";
import type { Declaration, HeldValue } from "./arguments.ts";
import { type Command, RUNS_CODE, readCommands, readInput } from "./commands.ts";
import { type Facts, type Found, merge, nothing, once, type PolicyCall, unclear } from "./facts.ts";
import { type Host, parseHost } from "./hosts.ts";
import type { Places } from "./path-glob.ts";
import { type ResolvedPath, resolvePath } from "./real-path.ts";

/** The facts of a call, by the declaration of its action. */
export function toDeclaredFacts(
  { input, file, host }: PolicyCall,
  declaration: Declaration,
  places: Places,
): Facts {
  const [base = "/"] = places.roots;
  const held = once(() => declaration.valuesIn(input));
  const look = <T>(find: (held: HeldValue) => Found<T>, alone?: () => Found<T>) => {
    const everywhere = once(alone ?? (() => merge(held().map(find))));
    return (argument?: string) =>
      argument === undefined
        ? everywhere()
        : merge(
            held()
              .filter((one) => one.argument === argument)
              .map(find),
          );
  };
  return {
    input,
    kindOf: declaration.kindOf,
    paths: look(
      (one) => findPaths(one, places, file),
      file === undefined ? undefined : () => findPath(file, base, false),
    ),
    commands: look(findCommand),
    hosts: look(findHosts, host === undefined ? undefined : () => findHost(host)),
    inputs: look(findInput),
    setsEnvironment: () => held().some(setsVariables),
  };
}

function findPaths(
  { kind, value }: HeldValue,
  { roots, undoneBy }: Places,
  file: string | undefined,
): Found<ResolvedPath> {
  const [base = "/"] = roots;
  if (kind === "tree" && file !== undefined) return findPath(file, base, false);
  if (kind === "tree") return merge(textsOf(value ?? roots).map((uri) => findPath(uri, base, true)));
  const find = (text: string) => (kind === "patch" ? findPatched(text, base) : findNamed(kind, text, base));
  return merge(textsOf(value).map((text) => findUndone(text, base, undoneBy) ?? find(text)));
}

/** An undo record names files, and the hashes of their contents: to read it is to read about them. */
function findUndone(
  text: string,
  base: string,
  undoneBy: Places["undoneBy"],
): Found<ResolvedPath> | undefined {
  const hash = STORED.exec(text)?.[1];
  const undone = hash === undefined ? undefined : undoneBy?.(`blob:${hash}`);
  return undone && { ...merge(undone.map((uri) => findPath(uri, base, true))), besides: "other" };
}

const STORED = /^\s*(?:blob:)?(sha256:[0-9a-f]{64})\s*$/;

/** The file that a text of this kind names. */
function findNamed(kind: ArgumentKind, text: string, base: string): Found<ResolvedPath> {
  if (kind === "symbol" || (kind === "subject" && text.startsWith("sym:")))
    return findPath(fileOf(text), base, false);
  const isOther = NAMES_NO_FILE[kind];
  return isOther === undefined || isOther.test(text) ? nothing : findPath(text, base, false);
}

/** By kind, texts that a browser takes for a URL, and the store for a handle. */
const NAMES_NO_FILE: Readonly<Partial<Record<ArgumentKind, RegExp>>> = {
  path: /^$/,
  address: /^(?:https?|data|about):/i,
  subject: /^(?:artifact_|identity_|sha256:|blob:|cas:)/,
};

function findPath(uri: string, base: string, isTree: boolean): Found<ResolvedPath> {
  if (Ref.safeParse(uri).success) return { values: [], besides: "other" };
  try {
    return { values: [resolvePath(uri, base, isTree)], besides: "nothing" };
  } catch {
    return unclear;
  }
}

const fileOf = (symbolId: string): string => symbolId.replace(/^sym:/, "").replace(/#.*$/s, "");

/** Edits without a diff concern files named by other arguments. */
function findPatched(patch: string, base: string): Found<ResolvedPath> {
  try {
    const changes = parsePatch(patch, NAMED_ELSEWHERE);
    const names = changes.flatMap((change) => [
      change.path,
      ...(change.kind === "update" && change.newPath !== undefined ? [change.newPath] : []),
    ]);
    return merge(
      names
        .filter((name) => name !== NAMED_ELSEWHERE)
        .map((name) => findPath(toUri(name, base), base, false)),
    );
  } catch {
    return unclear;
  }
}

/** The parser's name for the file of unnamed hunks. */
const NAMED_ELSEWHERE = "//";

const toUri = (name: string, base: string): string => {
  if (/^(?:file:\/\/|~\/)/i.test(name)) return name;
  return pathToUri(name.startsWith("/") ? name : `${base}/${name}`);
};

function findCommand({ kind, value }: HeldValue): Found<Command> {
  if (kind !== "command" || value === undefined) return nothing;
  if (typeof value !== "string" && !isWords(value)) return unclear;
  return { values: readCommands(value), besides: "nothing" };
}

/** The name of a key is not text: `enter` ends a line. */
const KEYS: Readonly<Record<string, string>> = { enter: "\n", space: " ", tab: "\t" };

function findInput({ kind, value }: HeldValue): Found<Command> {
  if (kind === "environment") return setsCode(value) ? unclear : nothing;
  if (kind !== "input") return nothing;
  const text =
    typeof value === "string"
      ? value
      : textsOf(value)
          .map((key) => KEYS[key] ?? key)
          .join("");
  return text === "" ? nothing : { values: [readInput(text)], besides: "nothing" };
}

const setsCode = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).some((name) => RUNS_CODE.test(name));

const isWords = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((word) => typeof word === "string");

function findHosts({ kind, value }: HeldValue): Found<Host> {
  if (kind === "address")
    return merge(
      textsOf(value)
        .filter((one) => /^https?:/i.test(one))
        .map(findHost),
    );
  return kind === "host" ? merge(textsOf(value).map(findHost)) : nothing;
}

function findHost(text: string): Found<Host> {
  const host = parseHost(text);
  return host ? { values: [host], besides: "nothing" } : unclear;
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

const setsVariables = ({ kind, value }: HeldValue): boolean =>
  kind === "environment" && typeof value === "object" && value !== null && Object.keys(value).length > 0;
