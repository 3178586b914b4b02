import type { IncomingMessage, ServerResponse } from "node:http";
import { type Caller, createLargeCalls } from "@octant/core";
import type { Standing } from "@octant/http";
import { methodNotAllowed, readJson, refuse } from "@octant/http";
import { parseJson } from "../messages.ts";
import type { CallerEdge } from "./callers.ts";
import { isModern } from "./headers.ts";
import type { Limits } from "./limits.ts";
import { answerModern } from "./modern.ts";
import { createSessions } from "./sessions.ts";

export const MCP_PATH = "/mcp";

/** Streamable HTTP: both eras at one address. */
export interface Endpoint {
  handle(request: IncomingMessage, response: ServerResponse, edge: CallerEdge): void;
  close(): Promise<void>;
}

export function createEndpoint(limits: Limits, standingOf: (caller: Caller) => Standing): Endpoint {
  const sessions = createSessions(limits, standingOf);
  // An answer counts until it was read, so no other call waits for a client that reads nothing.
  const large = createLargeCalls(() => false);
  const ending = new AbortController();
  const parts = { large, limits, ending: ending.signal };
  return {
    handle(request, response, edge) {
      if (request.method === "GET") return sessions.listen(request, response, edge.service);
      if (request.method === "DELETE") return sessions.end(request, response, edge.service);
      if (request.method !== "POST") return refuse(response, methodNotAllowed("GET, POST, DELETE"));
      readJson(
        request,
        response,
        limits.maxBodyBytes,
        (value) => {
          if (isModern(request.headers, value)) answerModern({ request, response, value }, edge, parts);
          else sessions.post(request, response, value, edge.service);
        },
        parseJson,
      );
    },
    close() {
      ending.abort();
      return sessions.close();
    },
  };
}
