import type { z } from "zod";

/** Parameters of other tools that say together what one of ours says. */

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Names such as filePath; those that the action has itself stay. */
export const toSnakeCase = (shape: z.ZodRawShape, given: Fields): Fields =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      Object.hasOwn(shape, name)
        ? name
        : name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );

export function toKnownForm(shape: z.ZodRawShape, given: Fields): Fields {
  const has = (name: string) => Object.hasOwn(shape, name);
  if (has("patch") && given["patch"] === undefined && typeof given["old_string"] === "string")
    return toPatch(given);
  if (has("context") && has("case")) return toSearch(given);
  // A list of tasks has no title elsewhere.
  if (has("steps") && has("title") && !given["steps"] && !given["title"]) return { title: "Tasks", ...given };
  if (has("depends_on") && has("content")) return toStep(given);
  if (has("lines") && !has("limit") && given["lines"] === undefined) return toLines(given);
  if (has("depth") && has("include_ignored")) return toListing(given);
  if (has("pty")) return toCommand(given);
  if (has("as") && has("url")) return toRequest(given);
  return given;
}

const COUNTS = ["replace_all", "allow_multiple", "expected_replacements"];

/** An empty old text creates the file elsewhere. */
function toPatch(given: Fields): Fields {
  const { old_string, new_string, ...rest } = given;
  const others = Object.fromEntries(Object.entries(rest).filter(([name]) => !COUNTS.includes(name)));
  if (old_string !== "") return { ...others, patch: [toEdit(given)] };
  const { path, file_path, uri, ...left } = others;
  const name = uri ?? path ?? file_path;
  const text = String(new_string ?? "").replace(/\n$/, "");
  return typeof name === "string"
    ? {
        ...left,
        patch: `*** Begin Patch\n*** Add File: ${name}\n${text.replaceAll(/^/gm, "+")}\n*** End Patch\n`,
      }
    : given;
}

/** One replacement; other items stay. */
export function toEdit(item: Fields): Fields {
  const { old_string, new_string, replace_all, allow_multiple, expected_replacements } = toSnakeCase(
    {},
    item,
  );
  if (typeof old_string !== "string") return item;
  const isAll = replace_all === true || allow_multiple === true;
  const count = isAll ? "all" : expected_replacements;
  return { op: "replace", old: old_string, new: new_string, ...(count !== undefined && { count }) };
}

/** ripgrep's options, and its names of file types. */
function toSearch(given: Fields): Fields {
  const {
    "-A": after,
    "-B": before,
    "-C": around,
    "-i": insensitive,
    after: a,
    before: b,
    type,
    ...rest
  } = given;
  const lines = [after, before, around, a, b].filter((value) => value !== undefined).map(Number);
  const glob = typeof type === "string" ? (TYPES[type] ?? `*.${type}`) : undefined;
  return {
    ...rest,
    ...(lines.length > 0 && { context: Math.max(...lines) }),
    ...(insensitive === true && { case: "insensitive" }),
    ...(rest["case_sensitive"] === true && { case: "sensitive" }),
    // Both would narrow the search; ours has one.
    ...(glob !== undefined && (rest["glob"] === undefined ? { glob } : { type })),
  };
}

const TYPES: Readonly<Record<string, string>> = {
  js: "*.{js,cjs,mjs,jsx}",
  ts: "*.{ts,cts,mts,tsx}",
  py: "*.{py,pyi}",
  rust: "*.rs",
  ruby: "*.rb",
  cpp: "*.{cpp,cc,cxx,hpp,hh,h}",
  c: "*.{c,h}",
  markdown: "*.{md,markdown}",
  yaml: "*.{yaml,yml}",
};

function toLines(given: Fields): Fields {
  const { offset, limit, view_range, start_line, end_line, recursive: _, ...rest } = given;
  const known = [offset, limit, view_range, start_line, end_line];
  if (known.every((value) => value === undefined)) return rest;
  const first = start_line ?? offset ?? 1;
  const [from, to] = Array.isArray(view_range) ? view_range : [first, end_line ?? toEnd(first, limit)];
  return { ...rest, lines: `${Math.max(1, Number(from))}-${Number(to) > 0 ? to : ""}` };
}

const toEnd = (first: unknown, limit: unknown): number | undefined =>
  limit === undefined ? undefined : Math.max(1, Number(first)) + Number(limit) - 1;

const ALL_LEVELS = 20;

function toListing(given: Fields): Fields {
  const { recursive, ...rest } = given;
  return { ...rest, ...(recursive === true && rest["depth"] === undefined && { depth: ALL_LEVELS }) };
}

/** A terminal of usual size, where one is asked for. */
function toCommand(given: Fields): Fields {
  const { tty, yield_time_ms, ...rest } = given;
  return {
    ...rest,
    ...(tty === true && { pty: {} }),
    ...(yield_time_ms !== undefined && rest["wait"] === undefined && { wait: yield_time_ms }),
  };
}

/** Elsewhere a model answers a question about the page; here the caller reads it. */
function toRequest(given: Fields): Fields {
  const { prompt: _, ...rest } = given;
  return rest;
}

function toStep(given: Fields): Fields {
  const { description, status, ...rest } = given;
  const isNamed = ["content", "step", "text"].some((name) => rest[name] !== undefined);
  return {
    ...rest,
    ...(typeof description === "string" && (isNamed ? {} : { content: description })),
    ...(status !== undefined && { state: status === "cancelled" ? "skipped" : status }),
  };
}

const PATCH = /^\*\*\* Begin Patch\n[\s\S]*\*\*\* End Patch\s*$/;
const HEREDOC = /^\s*apply_?patch\s*<<\s*(['"]?)(\w+)\1\n([\s\S]*?\n)\2\s*$/;

/** The patch of a command that is nothing but one: `apply_patch` is a program elsewhere. */
export function patchInCommand(command: unknown): string | undefined {
  if (typeof command === "string") {
    const patch = HEREDOC.exec(command)?.[3];
    return patch !== undefined && PATCH.test(patch) ? patch : undefined;
  }
  if (!Array.isArray(command)) return undefined;
  const [program, ...args] = command;
  if (/^(ba|z)?sh$/.test(program) && args.length === 2 && /^-l?c$/.test(args[0]))
    return patchInCommand(args[1]);
  const [patch] = args;
  return /^apply_?patch$/.test(program) && args.length === 1 && PATCH.test(patch) ? patch : undefined;
}
