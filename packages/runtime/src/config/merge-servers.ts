import type { McpServer, TierName } from "./config.ts";
import { emptyDictionary } from "./dictionary.ts";
import type { ServerSettings } from "./schema.ts";

/** A server as far as the tiers so far have said. */
export interface KnownServer {
  readonly server: McpServer;
  readonly definedBy: TierName;
  /** The highest tier that switched it off. */
  readonly disabledBy: TierName | null;
}

export interface MergedServer {
  readonly known: KnownServer | undefined;
  readonly warning?: string;
}

/** Disabling always applies; starting something applies only from a trusted tier. */
export function mergeServer(
  given: ServerSettings,
  before: KnownServer | undefined,
  { tier, trusted }: { readonly tier: TierName; readonly trusted: boolean },
): MergedServer {
  const isOff = given.disabled === true;
  const defined = trusted ? toServer(given) : undefined;
  if (isOff && !defined) return { known: before && switchOff(before, tier) };
  if (!trusted) return { known: before };
  if (before?.disabledBy === "user" && tier !== "user" && !isOff)
    return { known: before, warning: "stays disabled by the user tier" };
  const disabledBy = isOff ? tier : null;
  if (!defined)
    return { known: before && { ...before, disabledBy, server: { ...before.server, disabled: isOff } } };
  const known = { server: defined, definedBy: tier, disabledBy };
  return before?.definedBy === "user" && tier !== "user"
    ? { known, warning: "replaces the server of that name in the user tier" }
    : { known };
}

const switchOff = (known: KnownServer, tier: TierName): KnownServer => ({
  ...known,
  disabledBy: known.disabledBy ?? tier,
  server: { ...known.server, disabled: true },
});

function toServer({
  command,
  args = [],
  env,
  url,
  headers,
  disabled = false,
}: ServerSettings): McpServer | undefined {
  if (url !== undefined) return { url, headers: headers ?? emptyDictionary(), disabled };
  if (command === undefined) return undefined;
  const [program, ...first] = typeof command === "string" ? ([command] as const) : command;
  return { command: program, args: [...first, ...args], env: env ?? emptyDictionary(), disabled };
}
