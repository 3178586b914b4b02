import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scope } from "@octant/http";
import { createTokenStore } from "@octant/http";
import { onTestFinished } from "vitest";
import type { HttpOptions } from "../src/http/index.ts";
import { serveHttp } from "../src/http/serve.ts";
import { isPlain } from "../src/messages.ts";
import { createDemo } from "./demo.ts";

/** Calls left running by a test delay its end by at most this. */
const MAX_END_MS = 100;

/** The demo over HTTP, with a token, until the test ends. */
export async function serveDemo(over: Partial<HttpOptions> = {}, scopes: readonly Scope[] = ["admin"]) {
  const folder = mkdtempSync(join(tmpdir(), "octant-tokens-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const tokens = createTokenStore({ folder });
  const { token } = tokens.create({ scopes });
  const demo = createDemo();
  const limits = { drainMs: MAX_END_MS, ...over.limits };
  const server = await serveHttp({ ...demo.options, tokens, ...over, limits });
  onTestFinished(() => server.close());
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const post = (body: unknown, more: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(server.url, {
      method: "POST",
      headers: { ...headers, ...more },
      body: typeof body === "string" ? body : JSON.stringify(body),
      ...(signal && { signal }),
    });
  return { ...demo, server, folder, tokens, token, headers, post };
}

const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A request of the modern era with its headers. */
export function modernRequest(id: string | number, method: string, params: Record<string, unknown> = {}) {
  const body = {
    jsonrpc: "2.0",
    id,
    method,
    params: { ...params, _meta: { ...modernMeta, ...(params["_meta"] as object) } },
  };
  return { body, headers: modernHeaders(body) };
}

/** The headers that mirror a body. */
export function modernHeaders(body: unknown): Record<string, string> {
  const { method, params } = isPlain(body) ? body : {};
  const { name, uri = name } = isPlain(params) ? params : {};
  return {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": String(method),
    ...(typeof uri === "string" && { "mcp-name": uri }),
  };
}
