import { HANDSHAKE_VERSIONS, MODERN_VERSION } from "./client-claims.ts";
import type { Plain } from "./messages.ts";
import { LIST_CACHE, type Service } from "./service.ts";

/** The results that depend on the service alone, as JSON, member for member as the SDK writes them. */
export interface Results {
  initialize(requestedVersion: string): string;
  discover(): string;
  toolsList(era: "legacy" | "modern"): string;
  /** The last members of every modern result. */
  readonly modernStamp: string;
  /** A modern result that puts a question. */
  question(result: Plain): string;
}

export function createResults(service: Service): Results {
  const { serverInfo, fullServerInfo, capabilities, instructions, listing } = service;
  const identity = `"_meta":${JSON.stringify({ "io.modelcontextprotocol/serverInfo": serverInfo })}`;
  const modernStamp = `,"resultType":"complete",${identity}`;
  const listStamp = `,"resultType":"complete",${JSON.stringify(LIST_CACHE).slice(1, -1)},${identity}`;
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
    discover: () => `${discovered.slice(0, -1)}${listStamp}}`,
    toolsList: (era) =>
      era === "modern"
        ? `{"tools":${listing().json}${listStamp}}`
        : `{"tools":${service.tasks ? listing().legacyJson : listing().json}}`,
    modernStamp,
    question: (result) => `${JSON.stringify(result).slice(0, -1)},${identity}}`,
  };
}
