import { z } from "zod";
import type { Call } from "./dispatch.ts";
import { ownAction } from "./lookup.ts";
import type { Registry } from "./registry.ts";
import type { Tool } from "./tool.ts";

/**
 * Names that models learned from other tools. They are answered like the real ones and listed nowhere. A call is
 * resolved before anything else looks at it, so rules, modes and the audit log see the real name only.
 */
export const ALIASES = {
  /** Tools of one action, by name in lower case without `_` and `-`. */
  tools: {
    "proc.exec":
      "bash shell runcommand executecommand runterminalcmd terminal exec localshell runshellcommand",
    "fs.read": "read readfile view viewfile cat openfile",
    "fs.write": "write writefile createfile",
    "fs.apply_patch": "edit editfile strreplace multiedit replace applypatch strreplaceeditor searchreplace",
    "fs.search_text": "grep searchfilecontent grepsearch ripgrep",
    "fs.list": "glob ls listdir listdirectory listfiles findfiles",
    "net.request": "webfetch fetch httprequest",
    "plan.create": "todowrite updateplan",
    "agent.spawn": "task",
  },
  actions: {
    fs: {
      apply_patch: "edit str_replace patch replace update multi_edit",
      search_text: "grep search rg find_text",
      list: "glob ls find list_dir find_files",
      read: "view cat open read_file get",
      write: "create write_file new",
      rm: "delete remove unlink",
    },
    proc: { exec: "bash run shell execute sh start", logs: "output tail", kill: "stop" },
    vcs: { diff: "show_diff", checkout: "switch" },
    test: { run: "exec execute test" },
    code: { search_symbol: "symbols find_symbol", definition: "goto", outline: "symbols_in" },
    search: { query: "search find" },
    net: { request: "fetch get http" },
    plan: { create: "new write", update: "set" },
    memory: { remember: "save add store", recall: "search get find" },
    agent: { spawn: "run create start task" },
  },
  /** Parameters, wherever the action has the real one and not the alias. */
  parameters: {
    uri: "path file_path filepath file filename file_name absolute_path target_file dir directory folder relative_workspace_path",
    path: "uri file_path filepath file dir directory folder",
    scope: "path file_path dir directory folder",
    cwd: "workdir working_directory path dir directory folder",
    content: "contents text file_text code data body step",
    pattern: "query regex glob glob_pattern search",
    query: "pattern q text search",
    glob: "include includes include_pattern file_pattern",
    command: "cmd script",
    timeout: "timeout_ms yield_time_ms",
    background: "run_in_background is_background",
    patch: "diff edits input changes",
    limit: "head_limit max_results count",
    message: "msg",
    steps: "todos plan items",
    title: "name",
    task: "prompt",
    role: "subagent_type agent_type",
    depth: "max_depth",
    text: "content memory",
    fixed: "literal fixed_strings",
    suite: "file path",
    filter: "name test_name",
    url: "uri",
  },
  /** Of no effect on the call: words about it, or on how the answer looks. */
  ignored: "description explanation output_mode -n show_line_numbers activeForm toolSummary",
} as const;

/** The call under its real names; unchanged where nothing is an alias. */
export function resolveAliases(registry: Pick<Registry, "get">, call: Call): Call {
  const { tool, action } = resolveNames(registry, call);
  const found = registry.get(tool);
  const act = found && typeof action === "string" ? ownAction(found, action) : undefined;
  const input = act && !act.builtin && isFields(call.input) ? toInput(act.input, call.input) : call.input;
  return { tool, action, input };
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
  const plain = tool.toLowerCase().replaceAll(/[_-]/g, "");
  const real = nameOf(ALIASES.tools, plain)?.split(".");
  return real && registry.get(real[0] ?? "") ? { tool: real[0] ?? "", action: real[1] } : { tool, action };
}

function resolveAction(tool: Tool, action: string): string {
  if (ownAction(tool, action)) return action;
  const short = action.startsWith(`${tool.name}.`) ? action.slice(tool.name.length + 1) : action;
  if (ownAction(tool, short)) return short;
  // Every tool may be asked for; only some have aliases.
  const table = (ALIASES.actions as Readonly<Record<string, Readonly<Record<string, string>>>>)[tool.name];
  const real = table && nameOf(table, short);
  return real !== undefined && ownAction(tool, real) ? real : action;
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const nameOf = (table: Readonly<Record<string, string>>, alias: string): string | undefined =>
  Object.entries(table).find(([, names]) => names.split(" ").includes(alias))?.[0];

const IGNORED: readonly string[] = ALIASES.ignored.split(" ");

function toInput(schema: z.ZodObject, given: Fields): Fields {
  const { shape } = schema;
  // Input of any shape, as of a foreign tool, has no aliases.
  if (schema.def.catchall !== undefined && !(schema.def.catchall instanceof z.ZodNever)) return given;
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

/** Parameters that say together what one of ours says. */
function toKnownForm(shape: z.ZodRawShape, given: Fields): Fields {
  const { old_string, new_string, replace_all, offset, limit, view_range, ...rest } = given;
  if (Object.hasOwn(shape, "patch") && typeof old_string === "string" && given["patch"] === undefined)
    return { ...rest, ...(replace_all === true && { replace_all }), patch: [toReplace(given)] };
  // A list of tasks has no title elsewhere.
  if (Object.hasOwn(shape, "steps") && Object.hasOwn(shape, "title") && !given["steps"] && !given["title"])
    return { title: "Tasks", ...given };
  if (!Object.hasOwn(shape, "lines") || Object.hasOwn(shape, "limit") || given["lines"] !== undefined)
    return given;
  const [from, to] = Array.isArray(view_range) ? view_range : [offset ?? 1, toEnd(offset, limit)];
  const isAsked = [view_range, offset, limit].some((value) => value !== undefined);
  return isAsked ? { ...rest, lines: `${Math.max(1, Number(from))}-${Number(to) > 0 ? to : ""}` } : given;
}

const toEnd = (offset: unknown, limit: unknown): number | undefined =>
  limit === undefined ? undefined : Math.max(1, Number(offset ?? 1)) + Number(limit) - 1;

const toReplace = ({ old_string, new_string }: Fields): Fields => ({
  op: "replace",
  old: old_string,
  new: new_string,
});

/** A value in the form that the schema has, where the given one can mean nothing else. */
function toShape(schema: z.core.$ZodType, value: unknown): unknown {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodUnion && typeof value === "string" && /^\s*\[\s*\{/.test(value))
    return fromText(inner, value);
  if (accepts(inner, value)) return value;
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
  if (element instanceof z.ZodObject && isFields(item)) {
    // A step that has not begun has no state here.
    const { status, ...rest } = item;
    return toInput(element, status === "pending" ? rest : item);
  }
  if (element instanceof z.ZodObject && typeof item === "string") {
    const needed = Object.entries(element.shape).filter(([, one]) => !z.safeParse(one, undefined).success);
    const [main, ...others] = needed;
    return main && others.length === 0 ? { [main[0]]: item } : item;
  }
  if (isFields(item) && typeof item["old_string"] === "string") return toReplace(item);
  return item;
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
