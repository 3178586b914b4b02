import { MOTIONS } from "./motions.ts";
import { textObject } from "./text-objects.ts";

/** A parsed command of normal or visual mode, before it runs. */
export type Command = {
  register?: string;
  count?: number;
  /** An operator (d, c, y, gu, >, …), a simple command (p, i, …), "select" or "move". */
  verb: string;
  /** The operator takes whole lines, as dd does. */
  lines?: boolean;
  motion?: { name: string; argument: string; count?: number };
  object?: { around: boolean; key: string };
  /** The character after r or m. */
  argument?: string;
};

export type Parsed =
  | { status: "incomplete" }
  | { status: "invalid" }
  | { status: "complete"; command: Command };

const OPERATORS = new Set(["d", "c", "y", ">", "<", "gu", "gU", "g~"]);
/** Operators of Vim that do nothing here; their motion belongs to them. */
const WITHOUT_EFFECT = new Set(["=", "!", "gq", "gw", "g?", "zf"]);
/** Keys that form one name with the key after them, also where that name means nothing here. */
const PREFIXES = new Set([..."gzZ[]@q", "Ctrl-W"]);
/** Keys that are short for an operator with its motion. */
const NORMAL_SHORT: Readonly<Record<string, string>> = {
  x: "dl",
  X: "dh",
  D: "d$",
  s: "cl",
  C: "c$",
  S: "cc",
  Y: "yy",
};
/** In visual mode some are short for the operator on whole lines. */
const VISUAL_SHORT: Readonly<Record<string, string>> = {
  x: "d",
  X: "dd",
  D: "dd",
  s: "c",
  C: "cc",
  S: "cc",
  Y: "yy",
};
const NORMAL = new Set([..."iaIAoOpPuJ~.vV:R", "gJ", "Ctrl-R"]);
const VISUAL = new Set([..."pPJ~uUoOvV:", "gJ", "Escape"]);
const INCOMPLETE: Parsed = { status: "incomplete" };
const INVALID: Parsed = { status: "invalid" };

/** Aliases of motions. */
const ALIASES: Readonly<Record<string, string>> = {
  Left: "h",
  Right: "l",
  Up: "k",
  Down: "j",
  Home: "0",
  End: "$",
};

export function parseKeys(keys: readonly string[], isVisual: boolean): Parsed {
  const { register, count, rest: typed, isInvalid } = prefix(keys);
  if (isInvalid) return INVALID;
  const rest = named(typed);
  const [key, ...after] = rest;
  if (key === undefined) return INCOMPLETE;
  if (key === "r" || key === "m")
    return withCharacter(after, (argument) => ({ register, count, verb: key, argument }));
  if (isVisual && (key === "i" || key === "a")) return object(key, after, { count, verb: "select" });
  const short = (isVisual ? VISUAL_SHORT : NORMAL_SHORT)[key];
  const [verb = "", ...target] = short ? [...short] : rest;
  if (OPERATORS.has(verb))
    return isVisual
      ? complete({ register, count, verb, lines: target.length > 0 })
      : operator(verb, target, { register, count });
  if (WITHOUT_EFFECT.has(key) && !isVisual) {
    const parsed = operator(key, after, { register, count });
    return parsed.status === "complete" ? INVALID : parsed;
  }
  if ((isVisual ? VISUAL : NORMAL).has(key)) return complete({ register, count, verb: key });
  return motion(rest, (name, argument) => ({ register, verb: "move", motion: { name, argument, count } }));
}

function operator(
  verb: string,
  keys: readonly string[],
  { register, count: outer }: { register?: string; count?: number },
): Parsed {
  const { count: inner, rest: typed } = digits(keys);
  const rest = named(typed);
  const [key, ...after] = rest;
  if (key === undefined) return INCOMPLETE;
  const count = outer === undefined && inner === undefined ? undefined : (outer ?? 1) * (inner ?? 1);
  if (key === verb || key === verb.at(-1)) return complete({ register, count, verb, lines: true });
  if (key === "i" || key === "a") return object(key, after, { register, count, verb });
  return motion(rest, (name, argument) => ({
    register,
    count,
    verb,
    motion: { name, argument, count },
  }));
}

/** The first two keys as one name where the first is a prefix; nothing while the second is missing. */
const named = (keys: readonly string[]): readonly string[] => {
  const [key = "", second, ...after] = keys;
  if (!PREFIXES.has(key)) return keys;
  return second === undefined ? [] : [key + second, ...after];
};

function object(key: string, [name]: readonly string[], command: Command): Parsed {
  if (name === undefined) return INCOMPLETE;
  if (!textObject(name)) return INVALID;
  return complete({ ...command, object: { around: key === "a", key: name } });
}

function motion(keys: readonly string[], build: (name: string, argument: string) => Command): Parsed {
  const [key = "", ...after] = keys;
  const name = ALIASES[key] ?? key;
  if (/^[fFtT'`]$/.test(name)) return withCharacter(after, (argument) => build(name, argument));
  if (name === "/" || name === "?") return withWords(after, (words) => build(name, words));
  return name in MOTIONS ? complete(build(name, "")) : INVALID;
}

function withCharacter([key]: readonly string[], build: (character: string) => Command): Parsed {
  if (key === undefined) return INCOMPLETE;
  if (key === "Enter") return complete(build("\n"));
  return isCharacter(key) ? complete(build(key)) : INVALID;
}

/** The words that are searched for, up to Enter. */
function withWords(keys: readonly string[], build: (words: string) => Command): Parsed {
  const typed = typedWords(keys);
  if (typed === undefined) return INVALID;
  return keys.at(-1) === "Enter" ? complete(build(typed)) : INCOMPLETE;
}

/** The search that is being typed, such as "/wor". */
export function searchIn(pending: readonly string[]): string | undefined {
  const at = pending.findIndex((key) => key === "/" || key === "?");
  const isArgument = /^[rmfFtT'`"]$/.test(pending[at - 1] ?? "") || PREFIXES.has(pending[at - 1] ?? "");
  return at === -1 || isArgument ? undefined : `${pending[at]}${typedWords(pending.slice(at + 1)) ?? ""}`;
}

/** undefined when Backspace has removed more than there was. */
function typedWords(keys: readonly string[]): string | undefined {
  let words: string[] | undefined = [];
  for (const key of keys) {
    if (key === "Backspace") words = words && words.length > 0 ? words.slice(0, -1) : undefined;
    else if (isCharacter(key)) words?.push(key);
  }
  return words?.join("");
}

/** Named keys have ASCII names of several letters, such as "Enter", or modifiers, such as "Alt-:". */
export const isCharacter = (key: string): boolean =>
  key.length === 1 || !/^(?:[A-Z][A-Za-z0-9]+|(?:Ctrl|Alt|Shift|Super)-.+)$/.test(key);

const complete = (command: Command): Parsed => ({ status: "complete", command });

/** The register and the counts before a command; without a rest more keys are needed. */
function prefix(keys: readonly string[]) {
  let rest = keys;
  let register: string | undefined;
  let count: number | undefined;
  for (;;) {
    if (rest[0] === '"') {
      register = rest[1];
      if (register !== undefined && !/^[a-zA-Z0"_]$/.test(register)) return { rest, isInvalid: true };
      rest = rest.slice(2);
      continue;
    }
    const typed = digits(rest);
    if (typed.count === undefined) return { register, count, rest };
    count = (count ?? 1) * typed.count;
    rest = typed.rest;
  }
}

const MAX_COUNT = 99_999;

function digits(keys: readonly string[]): { count?: number; rest: readonly string[] } {
  let i = 0;
  while (/^[0-9]$/.test(keys[i] ?? "") && !(i === 0 && keys[i] === "0")) i++;
  if (i === 0) return { rest: keys };
  return { count: Math.min(Number(keys.slice(0, i).join("")), MAX_COUNT), rest: keys.slice(i) };
}
