import type { ArgumentKind } from "@octant/core";
import { folderOf, hasShape } from "./command-shape.ts";
import { beginsWith, type Command, mayContain } from "./commands.ts";
import { type Facts, type Found, merge, nothing } from "./facts.ts";
import { isGlob, toGlobTest } from "./glob.ts";
import { toHostTest } from "./hosts.ts";
import { isHarmless } from "./only-reads.ts";
import { type Places, type Reading, toPathTest } from "./path-glob.ts";
import type { ArgumentConditions, PermissionMode } from "./rule.ts";

/** Whether the facts of a call match one condition of a rule. */
export type Condition = (facts: Facts) => boolean;

/**
 * The conditions of a rule. An allow rule needs every fact of the call to match for sure; for a deny or prompt rule one
 * possible match is enough. So a call that cannot be evaluated never passes.
 */
export function toConditions(
  args: ArgumentConditions,
  mode: PermissionMode,
  places: Places,
): readonly Condition[] {
  const reading = mode === "allow" ? "sure" : "possible";
  const { path, command, host, ...named } = args;
  return [
    ...(path === undefined ? [] : [pathCondition(listOf(path), reading, places)]),
    ...(command === undefined ? [] : [commandCondition(command, reading, places)]),
    ...(host === undefined ? [] : [hostCondition(listOf(host), reading)]),
    ...Object.entries(named).map(([name, wanted]) => namedCondition(name, listOf(wanted), reading, places)),
  ];
}

type Scalar = string | number | boolean;

function pathCondition(
  globs: readonly string[],
  reading: Reading,
  places: Places,
  argument?: string,
): Condition {
  const tests = globs.map((glob) => toPathTest(glob, reading, places));
  return (facts) => holds(reading, facts.paths(argument), tests);
}

function commandCondition(
  command: NonNullable<ArgumentConditions["command"]>,
  reading: Reading,
  places: Places,
): Condition {
  const wanted = isOnePrefix(command) ? [command] : command;
  if (reading === "possible") {
    const tests = wanted.map(
      (shape) => (one: Command) => mayContain(one, "words" in shape ? shape.words : shape, places),
    );
    return (facts) => holds(reading, merge([facts.commands(), facts.inputs()]), tests);
  }
  return (facts) => {
    if (facts.setsEnvironment()) return false;
    const readsText = facts.inputs() !== nothing;
    const tests = wanted.map(
      (shape) => (one: Command) =>
        "words" in shape ? !readsText && hasShape(one, shape, facts, places) : beginsWith(one, shape),
    );
    const { values, besides } = facts.commands();
    // Beside a command that the rule allows, one that only reads needs no rule of its own.
    const others = values.filter((one) => !isHarmlessCommand(one, facts, places));
    return holds(reading, { values: others.length > 0 ? others : values, besides }, tests);
  };
}

function isHarmlessCommand(command: Command, facts: Facts, places: Places): boolean {
  const folder = folderOf(command, facts, places);
  const words = command.words?.map((text) => ({ text, glob: false }));
  return words !== undefined && folder !== undefined && isHarmless(words, folder, places);
}

const isOnePrefix = (command: NonNullable<ArgumentConditions["command"]>): command is string[] =>
  typeof command[0] === "string";

function hostCondition(patterns: readonly string[], reading: Reading, argument?: string): Condition {
  const tests = patterns.map((pattern) => toHostTest(pattern, reading));
  return (facts) => holds(reading, facts.hosts(argument), tests);
}

/** A condition on one argument applies to its declared content, or to its value if nothing is declared. */
function namedCondition(
  name: string,
  wanted: readonly Scalar[],
  reading: Reading,
  places: Places,
): Condition {
  const texts = wanted.map(String);
  const ofPath = pathCondition(texts, reading, places, name);
  const ofHost = hostCondition(texts, reading, name);
  const tests = wanted.map(toValueTest);
  return (facts) => {
    const kind = facts.kindOf(name);
    if (kind && PATH_KINDS.has(kind)) return ofPath(facts);
    if (kind === "host") return ofHost(facts);
    return holds(reading, findScalars(facts.input, name), tests);
  };
}

const PATH_KINDS: ReadonlySet<ArgumentKind> = new Set([
  "path",
  "tree",
  "patch",
  "symbol",
  "address",
  "subject",
] as const);

function toValueTest(wanted: Scalar): ((value: Scalar) => boolean) | undefined {
  if (typeof wanted !== "string" || !isGlob(wanted)) return (value) => value === wanted;
  const matches = toGlobTest(wanted);
  if (!matches) return undefined;
  return (value) => value === wanted || (typeof value === "string" && matches(value));
}

function findScalars(input: Facts["input"], name: string): Found<Scalar> {
  const value = Object.hasOwn(input, name) ? input[name] : undefined;
  if (value === undefined || value === null) return { values: [], besides: "nothing" };
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.every(isScalar) ? { values, besides: "nothing" } : { values: [], besides: "unclear" };
}

const isScalar = (value: unknown): value is Scalar => ["string", "number", "boolean"].includes(typeof value);

/** A test that is undefined belongs to a pattern that cannot be read here. */
function holds<T>(
  reading: Reading,
  { values, besides }: Found<T>,
  tests: readonly (((value: T) => boolean) | undefined)[],
): boolean {
  if (reading === "possible" && besides === "unclear") return true;
  if (values.length === 0) return false;
  if (reading === "possible")
    return values.some((value) => tests.some((test) => test === undefined || test(value)));
  if (besides !== "nothing") return false;
  return values.every((value) => tests.some((test) => test?.(value)));
}

// Array.isArray does not narrow a readonly list.
const listOf = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? value : [value as T]);
