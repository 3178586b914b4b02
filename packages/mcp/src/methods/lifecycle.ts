import { LOG_LEVELS } from "../asking/exchange.ts";
import type { McpRequest } from "../connection.ts";
import { HANDSHAKE_VERSIONS, MODERN_VERSION } from "../era.ts";
import { invalidParams, isPlain, type Plain } from "../messages.ts";
import type { Service } from "../service.ts";

/** The parameters of a valid `initialize`. */
export type HandshakeParams = Plain & { readonly protocolVersion: string };

export const isHandshake = (params: Plain | undefined): params is HandshakeParams =>
  typeof params?.["protocolVersion"] === "string" &&
  isPlain(params["capabilities"]) &&
  isPlain(params["clientInfo"]);

/** The revision that answers a request for `requested`; the newest when it is unknown. */
export const negotiate = (requested: string): string =>
  HANDSHAKE_VERSIONS.find((version) => version === requested) ?? HANDSHAKE_VERSIONS[0] ?? "";

export function initialize({ service, params, session }: McpRequest): Plain {
  if (!isHandshake(params))
    throw invalidParams("initialize needs protocolVersion (a string), capabilities and clientInfo (objects)");
  if (session) session.handshake = params;
  service.onClient?.(params["clientInfo"]);
  return toInitializeResult(service, negotiate(params.protocolVersion));
}

export const toInitializeResult = (service: Service, protocolVersion: string): Plain => ({
  protocolVersion,
  capabilities: service.capabilities.legacy,
  serverInfo: service.fullServerInfo,
  instructions: service.instructions || undefined,
});

export const discover = ({ service }: McpRequest): Plain => toDiscoverResult(service);

export const toDiscoverResult = ({ capabilities, instructions }: Service): Plain => ({
  supportedVersions: [MODERN_VERSION],
  capabilities: capabilities.modern,
  instructions: instructions || undefined,
});

export function setLogLevel({ params, session }: McpRequest): Plain {
  const level = LOG_LEVELS.find((known) => known === params["level"]);
  if (!level) throw invalidParams(`level must be one of ${LOG_LEVELS.join(", ")}`);
  if (session) session.logLevel = level;
  return {};
}
