import { MOTIONS, TAKES_CHARACTER } from "./motions.ts";
import { textObject } from "./text-objects.ts";

/** A parsed command of normal or visual mode, before it runs. */
export type Command = {
  register?: string;
  count?: number;
  /** An operator (d, c, y), a simple command (x, p, i, …) or "move". */
  verb: string;
  motion?: { name: string; argument: string; count?: number };
  object?: { around: boolean; key: string };
  /** The character after r. */
  argument?: string;
};

export type Parsed =
  | { status: "incomplete" }
  | { status: "invalid" }
  | { status: "complete"; command: Command };

const OPERATORS = new Set(["d", "c", "y"]);
const SIMPLE = new Set([..."iaIAoOxXDCYsSpPuJ~.vV:", "Ctrl-R"]);
const VISUAL = new Set([..."dxXDcsCSyYpPJ~uUoOvV:", "Escape"]);
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

export function parseNormal(keys: readonly string[]): Parsed {
  const { register, count, rest, incomplete, invalid } = prefix(keys);
  if (invalid) return INVALID;
  if (incomplete) return INCOMPLETE;
  const [key = "", ...after] = rest;
  if (OPERATORS.has(key)) return operator(key, after, { register, count });
  if (key === "r") return withCharacter(after, (argument) => ({ register, count, verb: "r", argument }));
  if (SIMPLE.has(key)) return complete({ register, count, verb: key });
  return motion(rest, (name, argument) => ({ register, verb: "move", motion: { name, argument, count } }));
}

export function parseVisual(keys: readonly string[]): Parsed {
  const { register, count, rest, incomplete, invalid } = prefix(keys);
  if (invalid) return INVALID;
  if (incomplete) return INCOMPLETE;
  const [key = "", ...after] = rest;
  if (key === "r") return withCharacter(after, (argument) => ({ register, count, verb: "r", argument }));
  if (key === "i" || key === "a") return object(key, after, { count, verb: "select" });
  if (VISUAL.has(key)) return complete({ register, count, verb: key });
  return motion(rest, (name, argument) => ({ register, verb: "move", motion: { name, argument, count } }));
}

function operator(
  verb: string,
  keys: readonly string[],
  outer: { register?: string; count?: number },
): Parsed {
  const inner = digits(keys);
  if (inner.rest.length === 0) return INCOMPLETE;
  const count =
    outer.count === undefined && inner.count === undefined
      ? undefined
      : (outer.count ?? 1) * (inner.count ?? 1);
  const [key = "", ...after] = inner.rest;
  if (key === verb) return complete({ register: outer.register, count, verb: verb + verb });
  if (key === "i" || key === "a") return object(key, after, { register: outer.register, count, verb });
  return motion(inner.rest, (name, argument) => ({
    register: outer.register,
    count,
    verb,
    motion: { name, argument, count },
  }));
}

function object(key: string, after: readonly string[], command: Command): Parsed {
  const [name] = after;
  if (name === undefined) return INCOMPLETE;
  if (!textObject(name)) return INVALID;
  return complete({ ...command, object: { around: key === "a", key: name } });
}

function motion(keys: readonly string[], build: (name: string, argument: string) => Command): Parsed {
  const [key = "", second, ...more] = keys;
  const name = ALIASES[key] ?? key;
  if (name === "g") {
    if (second === undefined) return INCOMPLETE;
    return second === "g" ? complete(build("gg", "")) : INVALID;
  }
  if (TAKES_CHARACTER.has(name)) {
    return withCharacter(
      [second, ...more].filter((k) => k !== undefined),
      (argument) => build(name, argument),
    );
  }
  return name in MOTIONS ? complete(build(name, "")) : INVALID;
}

function withCharacter([key]: readonly string[], build: (character: string) => Command): Parsed {
  if (key === undefined) return INCOMPLETE;
  const character = key === "Enter" ? "\n" : key;
  return isCharacter(key) || key === "Enter" ? complete(build(character)) : INVALID;
}

/** Named keys have ASCII names of several letters, such as "Enter", or modifiers, such as "Alt-:". */
export const isCharacter = (key: string): boolean =>
  key.length === 1 || !/^(?:[A-Z][A-Za-z0-9]+|(?:Ctrl|Alt|Shift|Super)-.+)$/.test(key);

const complete = (command: Command): Parsed => ({ status: "complete", command });

function prefix(keys: readonly string[]) {
  let rest = keys;
  let register: string | undefined;
  let count: number | undefined;
  for (;;) {
    if (rest[0] === '"') {
      if (rest.length < 2) return { rest, incomplete: true };
      if (!/^[a-zA-Z0"_]$/.test(rest[1] ?? "")) return { rest, invalid: true };
      register = rest[1];
      rest = rest.slice(2);
      continue;
    }
    const typed = digits(rest);
    if (typed.count === undefined) break;
    count = (count ?? 1) * typed.count;
    rest = typed.rest;
  }
  return { register, count, rest, incomplete: rest.length === 0 };
}

const MAX_COUNT = 99_999;

function digits(keys: readonly string[]): { count?: number; rest: readonly string[] } {
  let i = 0;
  while (/^[0-9]$/.test(keys[i] ?? "") && !(i === 0 && keys[i] === "0")) i++;
  if (i === 0) return { rest: keys };
  return { count: Math.min(Number(keys.slice(0, i).join("")), MAX_COUNT), rest: keys.slice(i) };
}
