import type { AnyAction, Holding } from "@octant/core";
import type { Command } from "./commands.ts";
import type { Host } from "./hosts.ts";
import type { ResolvedPath } from "./real-path.ts";

export interface PolicyCall {
  /** `fs.read` or `mcp__server__tool`. */
  readonly name: string;
  /** As its schema left it, with defaults. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The action whose declaration describes the arguments; without it, any text in them may be anything. */
  readonly action?: AnyAction | undefined;
  /** Judges the call as if it were about this file alone and not about the trees that it names. */
  readonly file?: string;
}

/** The facts of a call. Each kind is computed once, when a rule needs it. */
export interface Facts {
  readonly input: PolicyCall["input"];
  holdingOf(argument: string): Holding | undefined;
  paths(argument?: string): Found<ResolvedPath>;
  commands(argument?: string): Found<Command>;
  hosts(argument?: string): Found<Host>;
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
