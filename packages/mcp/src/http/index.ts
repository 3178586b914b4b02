import type { HttpOptions, HttpServer } from "./options.ts";

export type { Limits } from "./limits.ts";
export type { HttpOptions, HttpServer, McpMountOptions } from "./options.ts";

/** Serves MCP over HTTP and WebSocket. Loads the code on demand, so that a stdio server does not need it. */
export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
  const edge = await import("./serve.ts");
  return edge.serveHttp(options);
}
