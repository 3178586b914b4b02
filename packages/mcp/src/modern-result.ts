import type { Plain } from "./messages.ts";
import type { Service } from "./service.ts";

/** These lists rarely change, and interested clients subscribe to changes. */
const LIST_CACHE = { ttlMs: 300_000, cacheScope: "public" } as const;

/** Depends on the caller, and on files that change at any time. */
const OWN_CACHE = { ttlMs: 0, cacheScope: "private" } as const;

const CACHE: Readonly<Record<string, Plain>> = {
  "server/discover": LIST_CACHE,
  "tools/list": LIST_CACHE,
  "prompts/list": LIST_CACHE,
  "resources/templates/list": LIST_CACHE,
  "resources/list": OWN_CACHE,
  "resources/read": OWN_CACHE,
};

/** Adds the members of every result of the modern revision. */
export function toModernResult(service: Service, method: string, result: Plain): Plain {
  const { resultType = "complete", _meta } = result;
  // Only discover, which a client requests once, carries the description and the icons.
  const info = method === "server/discover" ? service.fullServerInfo : service.serverInfo;
  return {
    ...result,
    resultType,
    ...(resultType === "complete" && CACHE[method]),
    _meta: { ...Object(_meta), "io.modelcontextprotocol/serverInfo": info },
  };
}
