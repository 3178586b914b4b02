import type { HttpOptions, HttpServer } from "./options.ts";

export { DEFAULT_LIMITS, type Limits } from "./limits.ts";
export type { HttpOptions, HttpServer } from "./options.ts";

/** Serves MCP over HTTP and WebSocket. The code for it is loaded here: who serves stdio does without. */
export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
  const edge = await import("./serve.ts");
  return edge.serveHttp(options);
}
