import type { HttpServer, HttpServerOptions } from "@octant/http";
import type { ServiceOptions } from "../service.ts";
import type { Limits } from "./limits.ts";

export type { HttpServer } from "@octant/http";
export type { Limits } from "./limits.ts";

export interface HttpOptions
  extends Omit<ServiceOptions, "caller">,
    Omit<HttpServerOptions, "limits" | "log" | "resourcePath" | "cors"> {
  /** Also serves the transport of 2024-11-05 (`/sse` and `/messages`). */
  readonly sse?: boolean;
  readonly limits?: Partial<Limits>;
}

/** Serves MCP over HTTP and WebSocket. Loads the code on demand, so that a stdio server does not need it. */
export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
  const edge = await import("./serve.ts");
  return edge.serveHttp(options);
}
