import { type JsonSchema, type Tool, toInputSchema } from "@octant/core";
import type { AnyCommand, ArgumentKind, Flag } from "../command.ts";

/** Everything that a shell can complete, derived from the declarations of commands and tools. */
export interface Words {
  readonly commands: readonly CommandWords[];
  readonly actions: readonly ActionWords[];
}

export interface CommandWords {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly FlagWords[];
  /** The values of the first argument; an action is followed by its parameters. */
  readonly first: "action" | readonly string[];
}

export interface FlagWords {
  readonly name: string;
  readonly summary: string;
  readonly takes: "nothing" | "folder" | "file" | readonly string[];
}

export interface ActionWords {
  readonly name: string;
  readonly summary: string;
  readonly parameters: readonly { readonly name: string; readonly values: readonly string[] }[];
}

export function toWords(commands: readonly AnyCommand[], tools: readonly Tool[]): Words {
  const actions = tools.flatMap(({ name, actions }) =>
    Object.entries(actions).map(([action, act]) => ({
      name: `${name}.${action}`,
      summary: act.summary,
      parameters: Object.entries(toInputSchema(act).properties ?? {}).map(([key, schema]) => ({
        name: key,
        values: valuesOf(schema),
      })),
    })),
  );
  const topics = [...tools, ...actions].map(({ name }) => name);
  const toFirst = (kind: ArgumentKind = []) => (kind === "topic" ? topics : kind);
  return {
    commands: commands.map(({ name, summary, flags, arguments: takes }) => ({
      name,
      summary,
      flags: [...Object.entries<Flag>(flags).map(toFlagWords), HELP],
      first: toFirst(takes?.[0]?.kind),
    })),
    actions,
  };
}

const HELP: FlagWords = { name: "--help", summary: "Show the command's options", takes: "nothing" };

const toFlagWords = ([name, { summary, value, choices }]: [string, Flag]): FlagWords => ({
  name: `--${name}`,
  summary,
  takes:
    choices ??
    (value === undefined ? "nothing" : value === "DIR" ? "folder" : value === "FILE" ? "file" : []),
});

/** The values of a parameter, when they are few and known. */
function valuesOf(schema: JsonSchema | boolean): string[] {
  if (typeof schema === "boolean") return [];
  if (schema.type === "boolean") return ["true", "false"];
  const values = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  return [...values.map(String), ...(schema.anyOf ?? schema.oneOf ?? []).flatMap(valuesOf)];
}
