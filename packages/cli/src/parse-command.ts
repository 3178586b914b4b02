import { delimiter } from "node:path";
import { parseArgs } from "node:util";
import { didYouMean, nearestName } from "@octant/core";
import { type AnyCommand, type Argument, type Flag, UsageError } from "./command.ts";
import { hintForFlag } from "./other-words.ts";

/** Parses the words after the command's name into arguments and flags; throws a UsageError. */
export function parseCommand(command: AnyCommand, argv: readonly string[], env: NodeJS.ProcessEnv) {
  const hint = `octant ${command.name} --help lists its options`;
  const { values, positionals } = parseTyped(command, argv, hint);
  checkCount(command, positionals, hint);
  for (const [at, word] of positionals.entries()) checkWord(command, at, word);
  const flags = Object.entries<Flag>(command.flags).map(([name, flag]) => {
    const value = values[name] ?? fromEnvironment(flag, env);
    checkChoice(name, flag, value, hint);
    return [name, value ?? (flag.many ? [] : flag.value ? undefined : false)];
  });
  return { args: positionals, flags: Object.fromEntries(flags) };
}

function parseTyped(command: AnyCommand, argv: readonly string[], hint: string) {
  const options = Object.fromEntries(
    Object.entries<Flag>(command.flags).map(([name, { value, many = false }]) => [
      name,
      { type: value ? ("string" as const) : ("boolean" as const), multiple: many },
    ]),
  );
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, allowNegative: false });
  } catch (cause) {
    // Node's advice after the first sentence is for programmers.
    if (cause instanceof TypeError) {
      const unknown = /^Unknown option '--?([^']+)'/.exec(cause.message)?.[1] ?? "";
      const meant = nearestName(unknown, Object.keys(command.flags));
      const better =
        hintForFlag(unknown) ?? (meant === undefined ? hint : `did you mean --${meant}? ${hint}`);
      throw new UsageError(lowerFirst(cause.message.split(". ")[0] ?? ""), better);
    }
    throw cause;
  }
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

function checkCount({ name, arguments: takes = [] }: AnyCommand, given: readonly string[], hint: string) {
  const missing = takes.find(({ optional, many }, at) => !optional && !many && at >= given.length);
  if (missing) throw new UsageError(`octant ${name} needs ${missing.name}`, hint);
  const surplus = given[takes.length];
  if (surplus === undefined || takes.at(-1)?.many) return;
  throw new UsageError(`octant ${name} does not take '${surplus}'`, hint);
}

function checkWord({ name: command, arguments: takes = [] }: AnyCommand, at: number, word: string) {
  const { name, kind, unchecked }: Argument = takes[at] ?? takes.at(-1) ?? { name: "" };
  if (unchecked || !Array.isArray(kind) || kind.includes(word)) return;
  // A placeholder stands for things of that kind; anything else is a word to type.
  const [thing] = /^[A-Z]+$/.exec(name) ?? [];
  const message = thing
    ? `unknown ${thing.toLowerCase()} '${word}'`
    : `octant ${command} does not take '${word}'`;
  const title = thing ? `${thing.toLowerCase()}s:` : "it takes";
  throw new UsageError(message, `${title} ${kind.join(", ")}.${didYouMean(word, kind)}`.replace(/\.$/, ""));
}

function fromEnvironment({ env: variable, many }: Flag, env: NodeJS.ProcessEnv) {
  const value = variable && env[variable];
  if (!value) return undefined;
  return many ? value.split(delimiter).filter(Boolean) : value;
}

function checkChoice(name: string, { choices, env }: Flag, value: unknown, hint: string) {
  if (!choices || value === undefined || choices.includes(String(value))) return;
  const where = env ? `--${name} (or ${env})` : `--${name}`;
  throw new UsageError(`${where} is one of ${choices.join(", ")}, not '${value}'`, hint);
}
