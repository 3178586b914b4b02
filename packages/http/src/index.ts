import type { HttpServer, HttpServerOptions } from "./server.ts";

export type { Connections } from "./access/connections.ts";
export { type Standing, toWwwAuthenticate } from "./access/gate.ts";
export type { OAuthOptions } from "./access/oauth.ts";
export { createRateLimit, type RateLimit } from "./access/rate.ts";
export { ANY_PROJECT, isScope, type Scope } from "./access/scopes.ts";
export {
  createTokenStore,
  type NewToken,
  type TokenCheck,
  type TokenInfo,
  type TokenStore,
} from "./access/tokens.ts";
export { readJson } from "./body.ts";
export { createEventStream, type EventStream } from "./event-stream.ts";
export { DEFAULT_HTTP_LIMITS, type HttpLimits } from "./limits.ts";
export { type HttpRefusal, methodNotAllowed, refuse, refuseUpgrade } from "./refusals.ts";
export { sendJson } from "./send-json.ts";
export type { Handle, HttpServer, HttpServerOptions, Mount, Upgrade } from "./server.ts";

/** Loads the listener on demand, so that a stdio server does not need it. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const server = await import("./server.ts");
  return server.createHttpServer(options);
}
