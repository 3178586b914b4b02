import { HANDSHAKE_VERSIONS, isSoundHandshake, MODERN_VERSION } from "./client-claims.ts";
import type { Era } from "./features/capabilities.ts";
import type { Message, Plain } from "./messages.ts";
import { LIST_CACHE, type Service } from "./service.ts";

/** The results that depend on the service alone, as JSON, member for member as the SDK writes them. */
export interface Results {
  initialize(requestedVersion: string): string;
  discover(): string;
  toolsList(era: Era): string;
  /** The last members of every modern result. */
  readonly modernStamp: string;
  /** A modern result that puts a question. */
  question(result: Plain): string;
}

/** Those that answer a client's first questions. */
export type OpeningResults = Pick<Results, "initialize" | "discover" | "toolsList">;

/** The result that is known at once; undefined when there is none, or when it is for the SDK to say. */
export function knownResult(
  { method, params }: Message,
  era: Era,
  results: OpeningResults,
): string | undefined {
  if (method === "tools/list" && params?.["cursor"] === undefined) return results.toolsList(era);
  if (era === "modern") return method === "server/discover" ? results.discover() : undefined;
  if (method === "ping") return "{}";
  return method === "initialize" && isSoundHandshake(params)
    ? results.initialize(params.protocolVersion)
    : undefined;
}

export function createResults(service: Service): Results {
  const { serverInfo, fullServerInfo, capabilities, instructions, listing } = service;
  const identify = (info: object) =>
    `"_meta":${JSON.stringify({ "io.modelcontextprotocol/serverInfo": info })}`;
  const identity = identify(serverInfo);
  const modernStamp = `,"resultType":"complete",${identity}`;
  const cacheStamp = `,"resultType":"complete",${JSON.stringify(LIST_CACHE).slice(1, -1)}`;
  const listStamp = `${cacheStamp},${identity}`;
  const discovered = JSON.stringify({
    supportedVersions: [MODERN_VERSION],
    capabilities: capabilities.modern,
    instructions,
  });
  return {
    initialize(requestedVersion) {
      const known = HANDSHAKE_VERSIONS.includes(requestedVersion);
      const protocolVersion = known ? requestedVersion : HANDSHAKE_VERSIONS[0];
      return JSON.stringify({
        protocolVersion,
        capabilities: capabilities.legacy,
        serverInfo: fullServerInfo,
        instructions,
      });
    },
    // Here once, with picture and description, what every other result says in short.
    discover: () => `${discovered.slice(0, -1)}${cacheStamp},${identify(fullServerInfo)}}`,
    toolsList: (era) =>
      era === "modern"
        ? `{"tools":${listing().json}${listStamp}}`
        : `{"tools":${service.tasks ? listing().legacyJson : listing().json}}`,
    modernStamp,
    question: (result) => `${JSON.stringify(result).slice(0, -1)},${identity}}`,
  };
}
