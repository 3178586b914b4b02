import { readCommand } from "./commands.ts";
import { type Facts, once, type PolicyCall } from "./facts.ts";
import { type Host, parseHost } from "./hosts.ts";
import type { Places } from "./path-glob.ts";
import { type ResolvedPath, resolvePath } from "./real-path.ts";

/** Beyond this number texts are not checked one by one: restrictive rules match. */
const MAX_TEXTS = 200;

/**
 * The possible facts of a foreign tool's call: every text in its input may be a path, a command or a URL. They are
 * always partly unclear, so no allow rule matches on them.
 */
export function toGuessedFacts({ input }: PolicyCall, { roots }: Places): Facts {
  const [base = "/"] = roots;
  const commands = once(() => commandsIn(input));
  const texts = once(() => commands().flat());
  const guess =
    <T>(find: () => readonly T[]) =>
    () =>
      ({ values: find(), besides: texts().length > MAX_TEXTS ? "unclear" : "other" }) as const;
  return {
    input,
    holdingOf: () => undefined,
    paths: guess(() =>
      texts()
        .slice(0, MAX_TEXTS)
        .flatMap((text) => toPaths(text, base)),
    ),
    commands: guess(() =>
      commands()
        .slice(0, MAX_TEXTS)
        .map((one) => readCommand(one)),
    ),
    hosts: guess(() => texts().slice(0, MAX_TEXTS).flatMap(toHosts)),
    setsEnvironment: () => true,
  };
}

function commandsIn(value: unknown): readonly (string | readonly string[])[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const items: readonly unknown[] = Object.values(value);
  const words = Array.isArray(value) && items.every((item) => typeof item === "string") ? [items] : [];
  return [...words, ...items.flatMap(commandsIn)];
}

function toPaths(text: string, base: string): readonly ResolvedPath[] {
  try {
    return [resolvePath(text, base, true)];
  } catch {
    return [];
  }
}

function toHosts(text: string): readonly Host[] {
  return [text, ...(text.match(/[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+/gi) ?? [])].flatMap(
    (one) => parseHost(one) ?? [],
  );
}
