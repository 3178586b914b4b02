import { z } from "zod";
import { nameOf, toPlainName } from "./alias-names.ts";
import { ALIASES } from "./aliases.ts";
import type { Call } from "./dispatch.ts";
import { type Fields, isFields } from "./fields.ts";
import { ownAction } from "./lookup.ts";
import type { Registry } from "./registry.ts";
import type { Tool } from "./tool.ts";
import { patchInCommand, toEdit, toKnownForm, toSnakeCase } from "./trained-forms.ts";

/** The call under its real names; unchanged where nothing is an alias. */
export function resolveAliases(registry: Pick<Registry, "get">, given: Call): Call {
  const call = asEditorCall(registry, given);
  const { tool, action } = withAction(registry, resolveNames(registry, call), call.input);
  const found = registry.get(tool);
  const act = found && typeof action === "string" ? ownAction(found, action) : undefined;
  const input = act && !act.builtin && isFields(call.input) ? toInput(act.input, call.input) : call.input;
  return asPatch(registry, { tool, action, input });
}

/** A command that is nothing but a patch is an edit, which rules and the person see as one. */
function asPatch(registry: Pick<Registry, "get">, call: Call): Call {
  const { tool, action, input } = call;
  if (tool !== "proc" || action !== "exec" || !isFields(input)) return call;
  const patch = patchInCommand(input["command"]);
  return patch === undefined || !registry.get("fs")
    ? call
    : { tool: "fs", action: "apply_patch", input: { patch } };
}

/** One tool elsewhere, whose `command` is an action here. */
function asEditorCall(registry: Pick<Registry, "get">, call: Call): Call {
  const { tool, input } = call;
  const { names, commands } = ALIASES.editors;
  if (registry.get(tool) || !names.split(" ").includes(toPlainName(tool)) || !isFields(input)) return call;
  const { command, ...rest } = input;
  const [, real] = Object.entries(commands).find(([name]) => name === command) ?? [];
  const [name = "", action = ""] = real?.split(".") ?? [];
  return registry.get(name) ? { tool: name, action, input: rest } : call;
}

type Names = Pick<Call, "tool" | "action">;

/** What other agents write before the names of tools. */
const PREFIX = /^(?:functions|default_api|mcp__octant_*)[._]+/;

function resolveNames(registry: Pick<Registry, "get">, { tool: given, action }: Call): Names {
  const bare = registry.get(given) ? given : given.replace(PREFIX, "");
  // A name such as Agent.
  const tool = !registry.get(bare) && registry.get(bare.toLowerCase()) ? bare.toLowerCase() : bare;
  const known = registry.get(tool);
  if (known) return typeof action === "string" ? resolveAction(registry, known, action) : { tool, action };
  if (action !== undefined && action !== "") return { tool: given, action };
  const [, first = "", rest = ""] = /^([a-z]+)[._](.+)$/.exec(tool) ?? [];
  const named = registry.get(first);
  if (named && ownAction(named, rest)) return { tool: first, action: rest };
  return namesOf(registry, nameOf(ALIASES.tools, toPlainName(tool))) ?? { tool: given, action };
}

function resolveAction(registry: Pick<Registry, "get">, tool: Tool, action: string): Names {
  const same = { tool: tool.name, action };
  if (action === "" || ownAction(tool, action)) return same;
  const short = action.startsWith(`${tool.name}.`) ? action.slice(tool.name.length + 1) : action;
  if (ownAction(tool, short)) return { ...same, action: short };
  // Every tool may be asked for; only some have aliases.
  const table = (ALIASES.actions as Readonly<Record<string, Readonly<Record<string, string>>>>)[tool.name];
  const real = table && nameOf(table, short);
  const full = real === undefined || real.includes(".") ? real : `${tool.name}.${real}`;
  return namesOf(registry, full) ?? same;
}

/** `fs.read` in its parts, when there is such an action. */
function namesOf(registry: Pick<Registry, "get">, full: string | undefined): Names | undefined {
  const [tool = "", action = ""] = full?.split(".") ?? [];
  const found = registry.get(tool);
  return found && ownAction(found, action) ? { tool, action } : undefined;
}

/** A call without an action means the one that its parameters fit; of several, the tool's main one. */
function withAction(registry: Pick<Registry, "get">, { tool, action }: Names, input: unknown): Names {
  const main = Object.entries(ALIASES.main).find(([name]) => name === tool)?.[1];
  const found = registry.get(tool);
  if (!found || main === undefined || (action !== undefined && action !== "")) return { tool, action };
  if (!isFields(input)) return { tool, action };
  const fitting = Object.entries(found.actions)
    .filter(([, { builtin, input: schema }]) => !builtin && accepts(schema, toInput(schema, input)))
    .map(([name]) => name);
  const meant = fitting.length === 1 ? fitting[0] : fitting.find((name) => name === main);
  return { tool, action: meant ?? action };
}

const IGNORED: readonly string[] = ALIASES.ignored.split(" ");

function toInput(schema: z.ZodObject, asked: Fields): Fields {
  const { shape } = schema;
  // Input of any shape, as of a foreign tool, has no aliases.
  if (schema.def.catchall !== undefined && !(schema.def.catchall instanceof z.ZodNever)) return asked;
  const given = toSnakeCase(shape, unwrapInput(shape, asked));
  const named: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(toKnownForm(shape, given))) {
    const real = Object.hasOwn(shape, name) ? name : realName(shape, name, given);
    // No folders elsewhere mean all.
    if (real === "scope" && Array.isArray(value) && value.length === 0) continue;
    // The shape has it.
    if (real !== undefined) named[real] = toShape(shape[real] as z.core.$ZodType, value);
    else if (!IGNORED.includes(name)) named[name] = value;
  }
  return named;
}

const WRAPPERS = ["args", "arguments", "parameters", "params", "input"];

/** Parameters inside one parameter. */
function unwrapInput(shape: z.ZodRawShape, given: Fields): Fields {
  const [name = "", ...others] = Object.keys(given);
  const inner = given[name];
  const isWrapped = others.length === 0 && WRAPPERS.includes(name) && !Object.hasOwn(shape, name);
  return isWrapped && isFields(inner) ? inner : given;
}

/** undefined when the action has no such parameter, or it is given by its own name too. */
const realName = (shape: z.ZodRawShape, alias: string, given: Fields): string | undefined =>
  Object.entries(ALIASES.parameters).find(
    ([name, names]) =>
      Object.hasOwn(shape, name) && !Object.hasOwn(given, name) && names.split(" ").includes(alias),
  )?.[0];

/** A value in the form that the schema has, where the given one can mean nothing else. */
function toShape(schema: z.core.$ZodType, value: unknown): unknown {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodUnion && typeof value === "string" && /^\s*\[\s*\{/.test(value))
    return fromText(inner, value);
  if (accepts(inner, value)) return value;
  if (typeof value === "number" && inner instanceof z.ZodString) return String(value);
  if (Array.isArray(value) && value.length === 1 && accepts(inner, value[0])) return value[0];
  if (typeof value === "string" && !(inner instanceof z.ZodString)) return fromText(inner, value);
  if (inner instanceof z.ZodUnion) {
    const list = inner.def.options.map(unwrap).find((option) => option instanceof z.ZodArray);
    return list && Array.isArray(value) ? toShape(list, value) : value;
  }
  if (!(inner instanceof z.ZodArray) || !Array.isArray(value)) return value;
  return value.map((item) => toItem(unwrap(inner.def.element), item));
}

/** `[1,2]` as text, one item instead of a list, a number in quotes. */
function fromText(schema: z.core.$ZodType, text: string): unknown {
  if (/^\s*[[{]|^(?:-?\d+|true|false)$/.test(text))
    try {
      const value: unknown = JSON.parse(text);
      const shaped = accepts(schema, value) ? value : toShape(schema, value);
      if (accepts(schema, shaped)) return shaped;
    } catch {
      // Not JSON: what follows may read it.
    }
  if (!(schema instanceof z.ZodArray)) return text;
  const list = [toItem(unwrap(schema.def.element), text)];
  return accepts(schema, list) ? list : text;
}

function toItem(element: z.core.$ZodType, item: unknown): unknown {
  // A file, as an object with its path.
  if (element instanceof z.ZodString && isFields(item)) return item["path"] ?? item["file_path"] ?? item;
  if (element instanceof z.ZodObject && isFields(item)) return toInput(element, item);
  if (element instanceof z.ZodObject && typeof item === "string") {
    const needed = Object.entries(element.shape).filter(([, one]) => !z.safeParse(one, undefined).success);
    const [main, ...others] = needed;
    return main && others.length === 0 ? { [main[0]]: item } : item;
  }
  if (!isFields(item)) return item;
  return Object.fromEntries(Object.entries(toEdit(item)).filter(([name]) => !IGNORED.includes(name)));
}

const accepts = (schema: z.core.$ZodType, value: unknown): boolean => z.safeParse(schema, value).success;

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodReadonly ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  )
    return unwrap(schema.def.innerType);
  return schema;
}
