import { toExact } from "@octant/core";
import { CLAUDE_EVENTS } from "../hooks/hook.ts";
import { CLAUDE_LISTS, fromClaudeRule } from "./claude-permissions.ts";
import { emptyDictionary, fieldsOf } from "./dictionary.ts";
import { createLineIndex, JsoncError, parseJsonc } from "./jsonc.ts";
import type { ServerSettings, Settings, settingsSchema } from "./schema.ts";

/** Another program's file, converted to our settings. A part that cannot be used is left out with a warning. */
export interface ForeignSettings {
  readonly settings: Settings;
  readonly lineOf: (...path: readonly PropertyKey[]) => number;
  readonly warnings: readonly string[];
}

type Schema = ReturnType<typeof settingsSchema>;
/** One of our values, its path in our settings, and its path in the file. */
interface Part {
  readonly ours: readonly [key: "mcp_servers" | "hooks" | "permissions", name: string];
  readonly value: unknown;
  readonly path: readonly PropertyKey[];
}

/** Never throws: the file is not ours, so that a broken one only has no effect. */
export function readForeign(tier: "mcp" | "claude", text: string, schema: Schema): ForeignSettings {
  const placeAt = createLineIndex(text);
  try {
    const tree = parseJsonc(text);
    const parts = tier === "mcp" ? serversIn(tree.value) : [...hooksIn(tree.value), ...rulesIn(tree.value)];
    const ignored: Part[] = [];
    const used = parts.filter((part) => {
      const {
        ours: [key, name],
        value,
      } = part;
      const { success } = schema.safeParse({ [key]: key === "mcp_servers" ? { [name]: value } : [value] });
      if (!success) ignored.push(part);
      return success;
    });
    const hooks = used.filter(({ ours }) => ours[0] === "hooks");
    const rules = used.filter(({ ours }) => ours[0] === "permissions");
    const servers = used.filter(({ ours }) => ours[0] === "mcp_servers");
    const given = {
      ...(hooks.length > 0 && { hooks: hooks.map(({ value }) => value) }),
      ...(rules.length > 0 && { permissions: rules.map(({ value }) => value) }),
      ...(servers.length > 0 && {
        mcp_servers: Object.fromEntries(servers.map(({ ours: [, name], value }) => [name, value])),
      }),
    };
    const lineOf = (...[key, name]: readonly PropertyKey[]) => {
      const list = key === "hooks" ? hooks : rules;
      const part = key === "mcp_servers" ? servers.find(({ ours }) => ours[1] === name) : list[Number(name)];
      return placeAt(tree.placeOf(part?.path ?? [])?.value ?? 0).line;
    };
    return { settings: schema.parse(given), lineOf, warnings: toWarnings(ignored) };
  } catch (cause) {
    if (!(cause instanceof JsoncError)) throw cause;
    return { settings: {}, lineOf: () => 1, warnings: ["is ignored: it is not valid JSON"] };
  }
}

/** One line for all hooks, which are a habit, and one for each rule, which somebody relies on. */
function toWarnings(ignored: readonly Part[]): string[] {
  const namesOf = (isHook: boolean) =>
    ignored.filter(({ ours }) => (ours[0] === "hooks") === isHook).map(({ path }) => toExact(path.join(".")));
  const hooks = namesOf(true);
  return [...(hooks.length > 0 ? [hooks.join(", ")] : []), ...namesOf(false)].map(
    (names) => `${names} ${names.includes(", ") ? "are" : "is"} ignored: Octant has nothing like it`,
  );
}

/** `{"mcpServers": {"name": {"command", "args", "env"} or {"type": "http", "url", "headers"}}}`. */
function serversIn(value: unknown): Part[] {
  return Object.entries(fieldsOf(fieldsOf(value)["mcpServers"])).flatMap(([name, entry]): Part[] => {
    const { type: _type, ...server } = fieldsOf(entry);
    // Octant itself, as `octant setup` registers it there.
    if (name === "octant") return [];
    return [{ ours: ["mcp_servers", name], value: server, path: ["mcpServers", name] }];
  });
}

const MS = 1_000;

/** `{"hooks": {"Stop": [{"matcher", "hooks": [{"type": "command", "command", "timeout"}]}]}}`. */
function hooksIn(value: unknown): Part[] {
  return Object.entries(fieldsOf(fieldsOf(value)["hooks"])).flatMap(([event, groups]) =>
    listOf(groups).flatMap((group, at) => {
      const { matcher, hooks } = fieldsOf(group);
      return listOf(hooks).map((hook, inner): Part => {
        const { type, command, timeout } = fieldsOf(hook);
        const isKnown = type === "command" && CLAUDE_EVENTS.some((one) => one === event);
        const own = {
          event,
          ...(matcher !== undefined && { matcher }),
          command,
          ...(typeof timeout === "number" && { timeout_ms: Math.round(timeout * MS) }),
        };
        const path = ["hooks", event, at, "hooks", inner];
        return { ours: ["hooks", ""], value: isKnown ? own : undefined, path };
      });
    }),
  );
}

/** `{"permissions": {"deny": ["Read(.env)"], "ask": ["Bash(git push:*)"]}}`. */
const rulesIn = (value: unknown): Part[] =>
  Object.entries(CLAUDE_LISTS).flatMap(([list, mode]) =>
    listOf(fieldsOf(fieldsOf(value)["permissions"])[list]).map(
      (rule, at): Part => ({
        ours: ["permissions", ""],
        value: fromClaudeRule(rule, mode),
        path: ["permissions", list, at],
      }),
    ),
  );

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** Servers with `${NAME}` and `${NAME:-default}` filled in, once they are trusted; one that lacks a variable is left out. */
export function withVariables(settings: Settings, env: NodeJS.ProcessEnv) {
  const warnings: string[] = [];
  const servers = Object.entries(settings.mcp_servers ?? {}).flatMap(([name, server]) => {
    const missing = new Set<string>();
    const filled = fillServer(server, (variable, other) => {
      const value = env[variable] || other;
      if (value === undefined) missing.add(variable);
      return value ?? "";
    });
    if (missing.size === 0) return [[name, filled] as const];
    warnings.push(
      toExact(`mcpServers.${name} is not started: ${[...missing].join(", ")} is not set in the environment`),
    );
    return [];
  });
  return {
    settings: { ...settings, mcp_servers: Object.assign(emptyDictionary(), Object.fromEntries(servers)) },
    warnings,
  };
}

function fillServer(
  { command, args, env, url, headers, ...rest }: ServerSettings,
  fillIn: (variable: string, other: string | undefined) => string,
): ServerSettings {
  const fill = (text: string) =>
    text.replace(VARIABLE, (_, name: string, other?: string) => fillIn(name, other));
  const fillAll = (texts: Readonly<Record<string, string>>) =>
    Object.assign(
      emptyDictionary<string>(),
      Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text)])),
    );
  return {
    ...rest,
    ...(typeof command === "string" && { command: fill(command) }),
    ...(args && { args: args.map(fill) }),
    ...(env && { env: fillAll(env) }),
    ...(url !== undefined && { url: fill(url) }),
    ...(headers && { headers: fillAll(headers) }),
  };
}
