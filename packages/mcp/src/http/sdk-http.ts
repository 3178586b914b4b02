import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { sendJson } from "@octant/http";
import { createSdkServer } from "../sdk-server.ts";
import type { Service } from "../service.ts";
import type { RunTool } from "../tool-runner.ts";
import type { Limits } from "./limits.ts";

export interface SdkHttp {
  answer(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void>;
  close(): Promise<void>;
}

/** The service on the SDK's own handler. It answers what the direct path leaves alone, and is its measure. */
export function createSdkHttp(service: Service, runTool: RunTool, { keepAliveMs }: Limits): SdkHttp {
  const silent = withoutChanges(service);
  const handler = createMcpHandler(() => createSdkServer(silent, runTool, "modern"), {
    legacy: "reject",
    keepAliveMs,
    // What listens is ours, unless it is none; nothing would ever be told here.
    maxSubscriptions: 0,
    onerror: (cause) => service.log(`mcp: ${cause.message}`),
  });
  return {
    async answer(request, response, body) {
      const controller = new AbortController();
      response.once("close", () => {
        if (!response.writableFinished) controller.abort();
      });
      const given = toWebRequest(request, controller.signal);
      await send(await handler.fetch(given, { parsedBody: body }), response, controller.signal);
    },
    close: () => handler.close(),
  };
}

/** A server for one request outlives no change: who listens is told by ours. */
function withoutChanges(service: Service): Service {
  const { prompts } = service;
  return {
    ...service,
    onListChanged: () => () => {},
    prompts: prompts && { list: () => prompts.list(), get: (...given) => prompts.get(...given) },
  };
}

/**
 * What the SDK reads of a request whose body was read before. A real Request would take many times the memory, and
 * leave it to the last collection of garbage. The token is nobody's business from here on.
 */
function toWebRequest({ method, url, headers }: IncomingMessage, signal: AbortSignal): Request {
  const kept = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (name !== "authorization" && value !== undefined) kept.set(name, [value].flat().join(", "));
  const read = { method, url: `http://localhost${url}`, headers: kept, signal };
  // It has everything that is read.
  return read as Pick<Request, "headers"> as Request;
}

async function send(answer: Response, response: ServerResponse, signal: AbortSignal): Promise<void> {
  if (answer.headers.get("content-type") === "application/json") {
    const headers = Object.fromEntries(answer.headers);
    const json = await answer.text();
    if (!signal.aborted) sendJson(response, answer.status, json, headers);
  } else await stream(answer, response, signal);
}

async function stream({ status, headers, body }: Response, response: ServerResponse, signal: AbortSignal) {
  if (signal.aborted) return;
  response.writeHead(status, Object.fromEntries(headers));
  if (!body) return void response.end();
  response.flushHeaders();
  for await (const chunk of body) {
    if (response.write(chunk) || signal.aborted) continue;
    // Ends when the client goes, too.
    await once(response, "drain", { signal }).catch(() => {});
  }
  response.end();
}
