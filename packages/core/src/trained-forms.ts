import type { z } from "zod";
import { type Fields, isFields } from "./fields.ts";

/** Converts several parameters of other tools that together mean one of ours. */

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
  if (has("patch")) {
    const name = PATCHES.find((one) => typeof given[one] === "string");
    return name === undefined ? toPatch(toOneFile(given)) : toBarePatch(given, name);
  }
  if (has("context") && has("case")) return toSearch(given);
  // A list of tasks has no title elsewhere; one that is to be merged is only a part of it.
  if (has("steps") && has("title"))
    return {
      title: "Tasks",
      ...without(
        given,
        WHOLE.filter(([name, value]) => given[name] === value).map(([name]) => name),
      ),
    };
  if (has("last_failed")) return toTests(given);
  if (has("depends_on") && has("content")) return toStep(given);
  if (has("lines") && !has("limit") && given["lines"] === undefined) return toLines(given);
  if (has("depth") && has("include_ignored")) return toListing(given);
  if (has("pty")) return toCommand(given);
  if (has("as") && has("url")) return toRequest(given);
  return given;
}

/** How calls elsewhere say that their list is the whole one. */
const WHOLE: readonly (readonly [string, unknown])[] = [
  ["merge", false],
  ["operation", "write"],
];

const OLD = ["old_string", "old_str", "old_text", "old"];
const NEW = ["new_string", "new_str", "new_text", "new"];
const COUNTS = ["replace_all", "allow_multiple", "expected_replacements"];

const firstText = (given: Fields, names: readonly string[]): string | undefined =>
  names.map((name) => given[name]).find((value) => typeof value === "string");

const without = (given: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name)));

const only = (given: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(given).filter(([name]) => names.includes(name)));

/** The names by which a whole patch is given; see `ALIASES.parameters`. */
const PATCHES = ["patch", "diff", "input", "patch_text", "changes", "edits"];
/** Roo's blocks say where they begin, and end that with a line. */
const START_LINE = /^(<{5,9} ?SEARCH\r?\n)(?::start_line: ?\d+\r?\n)?(?::end_line: ?\d+\r?\n)?-{5,9}\r?\n/gm;
const WRAPPED = /^(```\w*\n|(?:apply_?patch\s*)?<<\s*['"]?\w+['"]?\n)([\s\S]*?)\n(?:```|\w+)$/;
/** No part goes past the beginning of the next block, so that a text of beginnings takes no longer than any other. */
const BLOCK =
  /^[<-]{5,9} ?SEARCH\r?\n((?:(?!={5,9}\r?$|[<-]{5,9} ?SEARCH\r?$)[^\n]*\n)*)={5,9}\r?\n((?:(?![>+]{5,9} ?REPLACE[ \t]*$|[<-]{5,9} ?SEARCH\r?$)[^\n]*\n)*)[>+]{5,9} ?REPLACE[ \t]*$/gm;

/** Without the fence, the heredoc or the missing first line in which models put patches; blocks of search and replace. */
function toBarePatch(given: Fields, name: string): Fields {
  const text = String(given[name]).trim();
  const plain = text.replaceAll(START_LINE, "$1");
  const [, , inside = plain] = WRAPPED.exec(plain) ?? [];
  const begun = /^\*\*\* (?:Update|Add|Delete) File: /.test(inside) ? `*** Begin Patch\n${inside}` : inside;
  const patch = begun.replace(/^(\*\*\* End Patch)\n(?:```|EOF|PATCH)$/m, "$1");
  const blocks = [...patch.matchAll(BLOCK)];
  if (blocks.length > 0 && patch.replaceAll(BLOCK, "").trim() === "") {
    const edits = blocks.map(([, old = "", added = ""]) => ({ op: "replace", old, new: added }));
    return { ...given, [name]: edits };
  }
  return patch === text ? given : { ...given, [name]: `${patch}\n` };
}

/** Edits that each name the one file. */
function toOneFile(given: Fields): Fields {
  const name = ["edits", "replacements"].find((one) => Array.isArray(given[one]));
  const edits = name === undefined ? [] : (given[name] as readonly unknown[]);
  const items = edits.filter(isFields).map((edit) => toSnakeCase({}, edit));
  const [file, ...others] = new Set(items.map(({ file_path }) => file_path));
  if (name === undefined || typeof file !== "string" || others.length > 0 || items.length !== edits.length)
    return given;
  const outer = ["uri", "path", "file_path"].map((one) => given[one]).find((one) => one !== undefined);
  if (outer !== undefined && outer !== file) return given;
  const bare = items.map((item) => toEdit(without(item, ["file_path", "explanation"])));
  return { ...given, ...(outer === undefined && { uri: file }), [name]: bare };
}

/** An empty old text creates the file elsewhere. */
function toPatch(given: Fields): Fields {
  const { insert_line, insert_text, ...rest } = given;
  if (typeof insert_line === "number") {
    const text = insert_text ?? firstText(rest, NEW) ?? "";
    return { ...without(rest, NEW), patch: [{ op: "insert", line: insert_line, text }] };
  }
  const old = firstText(given, OLD);
  if (old === undefined) return given;
  const others = without(given, [...OLD, ...NEW, ...COUNTS, "op"]);
  if (old !== "") return { ...others, patch: [toEdit(only(given, [...OLD, ...NEW, ...COUNTS]))] };
  const { path, file_path, uri, ...left } = others;
  const name = uri ?? path ?? file_path;
  const text = (firstText(given, NEW) ?? "").replace(/\n$/, "");
  return typeof name === "string"
    ? {
        ...left,
        patch: `*** Begin Patch\n*** Add File: ${name}\n${text.replaceAll(/^/gm, "+")}\n*** End Patch\n`,
      }
    : given;
}

/** One replacement; other items stay. */
export function toEdit(item: Fields): Fields {
  const named = toSnakeCase({}, item);
  const old = firstText(named, OLD);
  if (old === undefined || (named["op"] !== undefined && named["op"] !== "replace")) return item;
  const { replace_all, allow_multiple, expected_replacements, count: given } = named;
  const isAll = replace_all === true || allow_multiple === true;
  const count = isAll ? "all" : (given ?? expected_replacements);
  const others = without(named, [...OLD, ...NEW, ...COUNTS]);
  // The editor of Anthropic alone removes the text when no new one is given.
  const text = firstText(named, NEW) ?? (named["old_str"] === undefined ? undefined : "");
  return { ...others, op: "replace", old, new: text, ...(count !== undefined && { count }) };
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
    ...all
  } = given;
  const rest = without(all, all["exclude_pattern"] === "" ? ["exclude_pattern"] : []);
  const lines = [after, before, around, a, b].filter((value) => value !== undefined).map(Number);
  const glob = typeof type === "string" ? (TYPES[type] ?? `*.${type}`) : undefined;
  return {
    ...withoutFolder(rest, "glob", "path"),
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
  const { offset, limit, view_range, recursive: _, ...more } = given;
  const { start_line_one_indexed, end_line_one_indexed_inclusive, ...others } = more;
  const { start_line = start_line_one_indexed, end_line = end_line_one_indexed_inclusive, ...rest } = others;
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
  const { recursive, glob, glob_pattern, ...rest } = given;
  const pattern = rest["pattern"] ?? glob_pattern ?? glob;
  const named = withoutFolder({ ...rest, ...(pattern !== undefined && { pattern }) }, "pattern", "uri");
  return { ...named, ...(recursive === true && rest["depth"] === undefined && { depth: ALL_LEVELS }) };
}

/** The folder with which a pattern begins is the one to look in; patterns here are relative to it. */
function withoutFolder(given: Fields, name: string, folder: string): Fields {
  const pattern = given[name];
  if (typeof pattern !== "string") return given;
  const bare = pattern.replace(/^(?:\.\/)+(?=.)/, "");
  if (!/^(?:\/|~\/)/.test(bare)) return { ...given, [name]: bare };
  const segments = bare.split("/");
  const signed = segments.findIndex((segment) => /[*?[\]{}\\]/.test(segment));
  const end = signed === -1 ? segments.length - 1 : signed;
  const { path: _path, uri: _uri, dir_path: _dir, directory: _directory, ...others } = given;
  return {
    ...others,
    [folder]: segments.slice(0, end).join("/") || "/",
    [name]: segments.slice(end).join("/"),
  };
}

/** A terminal of usual size, where one is asked for. A line for a shell is that line, which rules can read. */
function toCommand(given: Fields): Fields {
  const { tty, yield_time_ms, ...rest } = given;
  const line = rest["shell"] === undefined ? lineForShell(rest["command"]) : undefined;
  return {
    ...rest,
    ...(line !== undefined && { command: line }),
    ...(tty === true && { pty: {} }),
    ...(yield_time_ms !== undefined && rest["wait"] === undefined && { wait: yield_time_ms }),
  };
}

/** Elsewhere a model answers a question about the page; here the caller reads it. */
function toRequest(given: Fields): Fields {
  const { prompt, ...rest } = given;
  const isNamed = ["url", "urls", "uri"].some((name) => rest[name] !== undefined);
  const [url] =
    (!isNamed && typeof prompt === "string" && /https?:\/\/[^\s"'<>]*[^\s"'<>.,;:!?)\]]/.exec(prompt)) || [];
  return { ...rest, ...(url !== undefined && { url }) };
}

/** A file to run is a filter here, and a folder a suite. */
function toTests(given: Fields): Fields {
  const { file, path, files, ...rest } = given;
  const named = file ?? path ?? files;
  const [name, ...others] = Array.isArray(named) ? named : [named];
  if (typeof name !== "string" || others.length > 0) return given;
  const isFile = /\.\w+$/.test(name);
  return { [isFile ? "filter" : "suite"]: name, ...rest };
}

function toStep(given: Fields): Fields {
  const { description, status, title, ...rest } = given;
  const isNamed = ["content", "step", "text"].some((name) => rest[name] !== undefined);
  const named = [title, description].find((one) => typeof one === "string");
  const state = String(status).replaceAll("-", "_");
  return {
    ...rest,
    ...(named !== undefined && !isNamed && { content: named }),
    ...(status !== undefined && { state: STATES[state] ?? state }),
  };
}

const STATES: Readonly<Record<string, string>> = {
  cancelled: "skipped",
  done: "completed",
  not_started: "pending",
  todo: "pending",
};

const PATCH = /^\*\*\* Begin Patch\n[\s\S]*\*\*\* End Patch\s*$/;
const HEREDOC = /^\s*apply_?patch\s*<<\s*(['"]?)(\w+)\1\n([\s\S]*?\n)\2\s*$/;

/** The line in `["bash", "-lc", line]`; our own shell is bash where there is one. */
function lineForShell(command: unknown): string | undefined {
  if (!Array.isArray(command) || command.length !== 3) return undefined;
  const [program, option, line] = command;
  const isShell = /^(?:\/(?:usr\/)?bin\/)?(?:ba|z)?sh$/.test(program) && /^-l?c$/.test(option);
  return isShell && typeof line === "string" && line !== "" ? line : undefined;
}

/** The patch of a command that is nothing but one: `apply_patch` is a program elsewhere. */
export function patchInCommand(command: unknown): string | undefined {
  if (typeof command === "string") {
    const patch = HEREDOC.exec(command)?.[3];
    return patch !== undefined && PATCH.test(patch) ? patch : undefined;
  }
  if (!Array.isArray(command)) return undefined;
  const [program, patch, ...others] = command;
  return /^apply_?patch$/.test(program) && others.length === 0 && PATCH.test(patch) ? patch : undefined;
}
