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

/** Quotes a word in a way that bash, zsh and fish all accept. */
export const quote = (text: string): string => `'${text.replaceAll("\\", "").replaceAll("'", "’")}'`;

export const lines = (all: readonly string[]): string => all.map((line) => `    ${line}`).join("\n");

/** The cases of the values of parameters and flags, in the syntax that bash and zsh share. */
export function toCases(
  { commands, actions }: Words,
  offers: { among(words: readonly string[]): string; readonly folder: string; readonly file: string },
) {
  const offer = (takes: Exclude<FlagWords["takes"], "nothing">) =>
    takes === "folder" || takes === "file" ? offers[takes] : offers.among(takes);
  return {
    values: lines(
      actions.flatMap((action) =>
        action.parameters
          .filter(({ values }) => values.length > 0)
          .map(({ name, values }) => `${quote(`${action.name} ${name}`)}) ${offers.among(values)} ;;`),
      ),
    ),
    flags: lines(
      commands.flatMap((command) =>
        command.flags.flatMap(({ name, takes }) =>
          takes === "nothing" ? [] : [`${quote(`${command.name} ${name}`)}) ${offer(takes)}; return ;;`],
        ),
      ),
    ),
  };
}
