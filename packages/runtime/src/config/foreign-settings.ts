import { toExact } from "@octant/core";
import { CLAUDE_EVENTS } from "../hooks/hook.ts";
import { emptyDictionary, fieldsOf } from "./dictionary.ts";
import { createLineIndex, JsoncError, parseJsonc } from "./jsonc.ts";
import type { ServerSettings, Settings, settingsSchema } from "./schema.ts";

/** What another program's file means in our settings. A part that cannot be used is left out with a warning. */
export interface ForeignSettings {
  readonly settings: Settings;
  readonly lineOf: (...path: readonly PropertyKey[]) => number;
  readonly warnings: readonly string[];
}

type Schema = ReturnType<typeof settingsSchema>;
/** One of our values, its path in our settings, and its path in the file. */
interface Part {
  readonly ours: readonly [key: "mcp_servers" | "hooks", name: string];
  readonly value: unknown;
  readonly path: readonly PropertyKey[];
}

/** Never throws: the file is not ours, so that a broken one only has no effect. */
export function readForeign(tier: "mcp" | "claude", text: string, schema: Schema): ForeignSettings {
  const placeAt = createLineIndex(text);
  try {
    const tree = parseJsonc(text);
    const parts = tier === "mcp" ? serversIn(tree.value) : hooksIn(tree.value);
    const warnings: string[] = [];
    const used = parts.filter(({ ours: [key, name], value, path }) => {
      const { success } = schema.safeParse({ [key]: key === "hooks" ? [value] : { [name]: value } });
      if (!success) warnings.push(toExact(`${path.join(".")} is ignored: Octant has nothing like it`));
      return success;
    });
    const hooks = used.filter(({ ours }) => ours[0] === "hooks");
    const servers = used.filter(({ ours }) => ours[0] === "mcp_servers");
    const given = {
      ...(hooks.length > 0 && { hooks: hooks.map(({ value }) => value) }),
      ...(servers.length > 0 && {
        mcp_servers: Object.fromEntries(servers.map(({ ours: [, name], value }) => [name, value])),
      }),
    };
    const lineOf = (...[key, name]: readonly PropertyKey[]) => {
      const part = key === "hooks" ? hooks[Number(name)] : servers.find(({ ours }) => ours[1] === name);
      return placeAt(tree.placeOf(part?.path ?? [])?.value ?? 0).line;
    };
    return { settings: schema.parse(given), lineOf, warnings };
  } catch (cause) {
    if (!(cause instanceof JsoncError)) throw cause;
    return { settings: {}, lineOf: () => 1, warnings: ["is ignored: it is not valid JSON"] };
  }
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

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** A server with `${NAME}` and `${NAME:-default}` filled in, once it is trusted. */
export function withVariables(settings: Settings, env: NodeJS.ProcessEnv): Settings {
  const fill = (text: string) => text.replace(VARIABLE, (_, name: string, other = "") => env[name] || other);
  const fillAll = (texts: Readonly<Record<string, string>>) =>
    Object.assign(
      emptyDictionary<string>(),
      Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text)])),
    );
  const toFilled = ({
    command,
    args,
    env: variables,
    url,
    headers,
    ...rest
  }: ServerSettings): ServerSettings => ({
    ...rest,
    ...(typeof command === "string" && { command: fill(command) }),
    ...(args && { args: args.map(fill) }),
    ...(variables && { env: fillAll(variables) }),
    ...(url !== undefined && { url: fill(url) }),
    ...(headers && { headers: fillAll(headers) }),
  });
  if (!settings.mcp_servers) return settings;
  const servers = Object.entries(settings.mcp_servers).map(
    ([name, server]) => [name, toFilled(server)] as const,
  );
  return { ...settings, mcp_servers: Object.assign(emptyDictionary(), Object.fromEntries(servers)) };
}
