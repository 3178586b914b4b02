import { z } from "zod";
import { ALIASES } from "./aliases.ts";
import type { Call } from "./dispatch.ts";
import { ownAction } from "./lookup.ts";
import type { Registry } from "./registry.ts";
import type { Tool } from "./tool.ts";
import { type Fields, isFields, patchInCommand, toEdit, toKnownForm, toSnakeCase } from "./trained-forms.ts";

/** The call under its real names; unchanged where nothing is an alias. */
export function resolveAliases(registry: Pick<Registry, "get">, given: Call): Call {
  const call = asEditorCall(registry, given);
  const { tool, action } = resolveNames(registry, call);
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

function resolveNames(
  registry: Pick<Registry, "get">,
  { tool, action }: Call,
): Pick<Call, "tool" | "action"> {
  const known = registry.get(tool);
  if (known) return { tool, action: typeof action === "string" ? resolveAction(known, action) : action };
  if (action !== undefined && action !== "") return { tool, action };
  const [, first = "", rest = ""] = /^([a-z]+)[._](.+)$/.exec(tool) ?? [];
  const named = registry.get(first);
  if (named && ownAction(named, rest)) return { tool: first, action: rest };
  const real = nameOf(ALIASES.tools, toPlainName(tool))?.split(".");
  return real && registry.get(real[0] ?? "") ? { tool: real[0] ?? "", action: real[1] } : { tool, action };
}

const toPlainName = (tool: string): string => tool.toLowerCase().replaceAll(/[_-]/g, "");

function resolveAction(tool: Tool, action: string): string {
  if (ownAction(tool, action)) return action;
  const short = action.startsWith(`${tool.name}.`) ? action.slice(tool.name.length + 1) : action;
  if (ownAction(tool, short)) return short;
  // Every tool may be asked for; only some have aliases.
  const table = (ALIASES.actions as Readonly<Record<string, Readonly<Record<string, string>>>>)[tool.name];
  const real = table && nameOf(table, short);
  return real !== undefined && ownAction(tool, real) ? real : action;
}

const nameOf = (table: Readonly<Record<string, string>>, alias: string): string | undefined =>
  Object.entries(table).find(([, names]) => names.split(" ").includes(alias))?.[0];

const IGNORED: readonly string[] = ALIASES.ignored.split(" ");

function toInput(schema: z.ZodObject, asked: Fields): Fields {
  const { shape } = schema;
  // Input of any shape, as of a foreign tool, has no aliases.
  if (schema.def.catchall !== undefined && !(schema.def.catchall instanceof z.ZodNever)) return asked;
  const given = toSnakeCase(shape, asked);
  const named: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(toKnownForm(shape, given))) {
    const real = Object.hasOwn(shape, name) ? name : realName(shape, name, given);
    // The shape has it.
    if (real !== undefined) named[real] = toShape(shape[real] as z.core.$ZodType, value);
    else if (!IGNORED.includes(name)) named[name] = value;
  }
  return named;
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
