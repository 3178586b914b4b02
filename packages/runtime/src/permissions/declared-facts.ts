import { Ref } from "@octant/core";
import { parsePatch, pathToUri } from "@octant/host";
import type { Declaration, HeldValue } from "./arguments.ts";
import { type Command, RUNS_CODE, readCommands, readInput } from "./commands.ts";
import { type Facts, type Found, merge, nothing, once, type PolicyCall, unclear } from "./facts.ts";
import { type Host, parseHost } from "./hosts.ts";
import type { Places } from "./path-glob.ts";
import { type ResolvedPath, resolvePath } from "./real-path.ts";

/** The facts of a call, by the declaration of its action. */
export function toDeclaredFacts(
  { input, file }: PolicyCall,
  declaration: Declaration,
  { roots }: Places,
): Facts {
  const held = once(() => declaration.valuesIn(input));
  const look = <T>(find: (held: HeldValue) => Found<T>) => {
    const everywhere = once(() => merge(held().map(find)));
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
    holdingOf: declaration.holdingOf,
    paths: look((one) => findPaths(one, roots, file)),
    commands: look(findCommand),
    hosts: look(findHosts),
    inputs: look(findInput),
    setsEnvironment: () => held().some(setsVariables),
  };
}

function findPaths(
  { holds, value }: HeldValue,
  roots: readonly string[],
  file: string | undefined,
): Found<ResolvedPath> {
  const [base = "/"] = roots;
  if (holds === "tree" && file !== undefined) return findPath(file, base, false);
  if (holds === "patch") return findPatched(value, base);
  if (holds === "symbol") return merge(textsOf(value).map((id) => findPath(fileOf(id), base, false)));
  if (holds === "tree") return merge(textsOf(value ?? roots).map((uri) => findPath(uri, base, true)));
  if (holds === "path") return merge(textsOf(value).map((uri) => findPath(uri, base, false)));
  return nothing;
}

function findPath(uri: string, base: string, isTree: boolean): Found<ResolvedPath> {
  if (Ref.safeParse(uri).success) return { values: [], besides: "other" };
  try {
    return { values: [resolvePath(uri, base, isTree)], besides: "nothing" };
  } catch {
    return unclear;
  }
}

const fileOf = (symbolId: string): string => symbolId.replace(/^sym:/, "").replace(/#.*$/s, "");

/** Edits without a diff concern files named by other arguments. The files of an undo ref are not visible in it. */
function findPatched(patch: unknown, base: string): Found<ResolvedPath> {
  if (typeof patch !== "string") return nothing;
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
  if (/^file:\/\//i.test(name)) return name;
  return pathToUri(name.startsWith("/") ? name : `${base}/${name}`);
};

function findCommand({ holds, value }: HeldValue): Found<Command> {
  if (holds !== "command" || value === undefined) return nothing;
  if (typeof value !== "string" && !isWords(value)) return unclear;
  return { values: readCommands(value), besides: "nothing" };
}

/** A name of a key is no text: `enter` ends a line. */
const KEYS: Readonly<Record<string, string>> = { enter: "\n", space: " ", tab: "\t" };

function findInput({ holds, value }: HeldValue): Found<Command> {
  if (holds === "environment") return setsCode(value) ? unclear : nothing;
  if (holds !== "input") return nothing;
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

function findHosts({ holds, value }: HeldValue): Found<Host> {
  if (holds !== "host") return nothing;
  return merge(
    textsOf(value).map((text) => {
      const host = parseHost(text);
      return host ? { values: [host], besides: "nothing" } : unclear;
    }),
  );
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

const setsVariables = ({ holds, value }: HeldValue): boolean =>
  holds === "environment" && typeof value === "object" && value !== null && Object.keys(value).length > 0;
