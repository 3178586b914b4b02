import type { HttpServerOptions, HttpServer as Listener } from "@octant/http";
import type { ServiceOptions } from "../service.ts";
import type { Limits } from "./limits.ts";

export interface McpMountOptions extends Omit<ServiceOptions, "caller"> {
  /** Also serves the transport of 2024-11-05 (`/sse` and `/messages`). */
  readonly sse?: boolean;
  readonly limits?: Partial<Limits>;
}

export interface HttpOptions
  extends McpMountOptions,
    Omit<HttpServerOptions, "limits" | "log" | "resourcePath" | "cors"> {}

/** The listener, for edges mounted next to MCP. */
export type HttpServer = Listener;
