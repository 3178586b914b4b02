import { HANDSHAKE_VERSIONS, MODERN_VERSION } from "./client-claims.ts";
import type { Plain } from "./messages.ts";
import { CAPABILITIES, LIST_CACHE, type Service } from "./service.ts";

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

export function createResults({ serverInfo, instructions, listing }: Service): Results {
  const identity = `"_meta":${JSON.stringify({ "io.modelcontextprotocol/serverInfo": serverInfo })}`;
  const modernStamp = `,"resultType":"complete",${identity}`;
  const listStamp = `,"resultType":"complete",${JSON.stringify(LIST_CACHE).slice(1, -1)},${identity}`;
  const discovered = JSON.stringify({
    supportedVersions: [MODERN_VERSION],
    capabilities: CAPABILITIES,
    instructions,
  });
  return {
    initialize(requestedVersion) {
      const known = HANDSHAKE_VERSIONS.includes(requestedVersion);
      const protocolVersion = known ? requestedVersion : HANDSHAKE_VERSIONS[0];
      return JSON.stringify({ protocolVersion, capabilities: CAPABILITIES, serverInfo, instructions });
    },
    discover: () => `${discovered.slice(0, -1)}${listStamp}}`,
    toolsList: (era) => `{"tools":${listing().json}${era === "modern" ? listStamp : ""}}`,
    modernStamp,
    question: (result) => `${JSON.stringify(result).slice(0, -1)},${identity}}`,
  };
}
