import type { AnyAction, ArgumentKind } from "@octant/core";
import { type Command, readCommand } from "./commands.ts";
import { type Host, parseHost } from "./hosts.ts";
import type { Places } from "./path-glob.ts";
import { type ResolvedPath, resolvePath } from "./real-path.ts";

export interface PolicyCall {
  /** `fs.read` or `mcp__server__tool`. */
  readonly name: string;
  /** As its schema left it, with defaults. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The action whose declaration describes the arguments; without it, any text in them may be anything. */
  readonly action?: AnyAction | undefined;
  /** Judges the call as if it were about this file alone, whatever its arguments name. */
  readonly file?: string;
  /** The same for a host that it would reach. */
  readonly host?: string;
}

/** The facts of a call. Each kind is computed once, when a rule needs it. */
export interface Facts {
  readonly input: PolicyCall["input"];
  kindOf(argument: string): ArgumentKind | undefined;
  paths(argument?: string): Found<ResolvedPath>;
  commands(argument?: string): Found<Command>;
  hosts(argument?: string): Found<Host>;
  /** The commands that text for a running command may hold; `unclear` when variables make programs run other code. */
  inputs(): Found<Command>;
  /** Whether variables are set that can change what a command does. */
  setsEnvironment(): boolean;
}

export interface Found<T> {
  readonly values: readonly T[];
  /**
   * Further content: `other` is known to be of another kind, such as a ref in place of a path; `unclear` may be
   * anything. An allow rule accepts neither; a restrictive rule treats `unclear` as a match.
   */
  readonly besides: "nothing" | "other" | "unclear";
}

export const nothing: Found<never> = { values: [], besides: "nothing" };
export const unclear: Found<never> = { values: [], besides: "unclear" };

export function merge<T>(parts: readonly Found<T>[]): Found<T> {
  const said = parts.filter((part) => part !== nothing);
  if (said.length < 2) return said[0] ?? nothing;
  const besides = (["unclear", "other"] as const).find((kind) => said.some((part) => part.besides === kind));
  return { values: said.flatMap(({ values }) => values), besides: besides ?? "nothing" };
}

export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Beyond this number texts are not checked one by one: restrictive rules match. */
const MAX_TEXTS = 200;

/**
 * The possible facts of a foreign tool's call: every text in its input may be a path, a command or a URL, and a folder
 * that exists stands for all that is in it. They are always partly unclear, so no allow rule matches on them, unless the
 * call is judged for one file or host alone.
 */
export function toGuessedFacts({ input, file, host }: PolicyCall, { roots }: Places): Facts {
  const [base = "/"] = roots;
  const commands = once(() => commandsIn(input));
  const texts = once(() => commands().flat());
  const guess =
    <T>(find: () => readonly T[]) =>
    () =>
      ({ values: find(), besides: texts().length > MAX_TEXTS ? "unclear" : "other" }) as const;
  return {
    input,
    kindOf: () => undefined,
    paths:
      file === undefined
        ? guess(() =>
            texts()
              .slice(0, MAX_TEXTS)
              .flatMap((text) => toPaths(text, base, "existing")),
          )
        : once(() => toAlone(toPaths(file, base, false))),
    commands: guess(() =>
      commands()
        .slice(0, MAX_TEXTS)
        .map((one) => readCommand(one)),
    ),
    hosts:
      host === undefined
        ? guess(() => texts().slice(0, MAX_TEXTS).flatMap(toHosts))
        : once(() => toAlone(toHosts(host))),
    inputs: () => nothing,
    setsEnvironment: () => true,
  };
}

function commandsIn(value: unknown): readonly (string | readonly string[])[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const items: readonly unknown[] = Object.values(value);
  const words = Array.isArray(value) && items.every((item) => typeof item === "string") ? [items] : [];
  return [...words, ...items.flatMap(commandsIn)];
}

const toAlone = <T>(values: readonly T[]): Found<T> =>
  values.length > 0 ? { values, besides: "nothing" } : unclear;

function toPaths(text: string, base: string, isTree: false | "existing"): readonly ResolvedPath[] {
  try {
    return [resolvePath(text, base, isTree)];
  } catch {
    return [];
  }
}

function toHosts(text: string): readonly Host[] {
  return [text, ...(text.match(/[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+/gi) ?? [])].flatMap(
    (one) => parseHost(one) ?? [],
  );
}
