import { randomUUID } from "node:crypto";
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/server";
import { serveStdio as serveWithSdk } from "@modelcontextprotocol/server/stdio";
import { CAPABILITIES_KEY, MODERN_VERSION, VERSION_KEY } from "./client-claims.ts";
import type { Subscriptions } from "./listening/subscriptions.ts";
import type { Plain, RequestId } from "./messages.ts";
import { createSdkServer } from "./sdk-server.ts";
import type { Service } from "./service.ts";
import type { RunTool } from "./tool-runner.ts";

/** What the SDK must have seen before it gets a message, so that it answers as if it had seen them all. */
export interface Position {
  readonly phase: "opening" | "probed" | "legacy" | "modern";
  /** The parameters of the last initialize. */
  readonly handshake: Plain | undefined;
}

export interface SdkBridge {
  deliver(message: unknown, position: Position): void;
  close(): Promise<void>;
}

export interface BridgeOptions {
  readonly service: Service;
  readonly runTool: RunTool;
  readonly subscriptions: Subscriptions;
  /** `about` is the request that the line belongs to, where it belongs to one. */
  readonly write: (line: string, about?: RequestId) => void;
}

/** The SDK's server behind the direct path, on the same connection. */
export function createSdkBridge({ service, runTool, subscriptions, write }: BridgeOptions): SdkBridge {
  const ours = new Set<unknown>();
  const transport: Transport = {
    start: () => Promise.resolve(),
    async send(message, options) {
      if ("id" in message && ours.delete(message.id)) return;
      const answered = "id" in message && !("method" in message) ? message.id : undefined;
      write(JSON.stringify(message), answered ?? options?.relatedRequestId);
    },
    async close() {
      transport.onclose?.();
    },
  };
  const own = withoutSubscriptions(service);
  const server = serveWithSdk(({ era }) => createSdkServer(own, runTool, era, subscriptions), {
    transport,
    onerror: (cause) => service.log(`mcp: ${cause.message}`),
  });

  /** Asks in our own name; the client never sees the answer. */
  const replay = (method: string, params?: Plain) => {
    const id = `octant-${randomUUID()}`;
    ours.add(id);
    transport.onmessage?.({ jsonrpc: "2.0", id, method, params: params && { ...params } });
  };
  const catchUp = ({ phase, handshake }: Position) => {
    if (phase === "probed") replay("server/discover", MODERN_PARAMS);
    // Any request settles the era; this one costs nothing, and its era has no such method.
    if (phase === "modern") replay("ping", MODERN_PARAMS);
    // A claim in its _meta meant nothing where it was said, and would open the other era here.
    if (phase === "legacy" && handshake) replay("initialize", { ...handshake, _meta: undefined });
    if (phase === "legacy" && !handshake) replay("ping");
  };
  let reached: Position = { phase: "opening", handshake: undefined };
  return {
    deliver(value, position) {
      if (position.phase !== reached.phase || position.handshake !== reached.handshake) catchUp(position);
      reached = position;
      const message = toSdkMessage(value);
      if (message) transport.onmessage?.(message);
      else service.log("mcp: dropped a message that is not JSON-RPC");
    },
    close: () => server.close(),
  };
}

/** It would acknowledge subscriptions of the modern revision itself, and has no way to ask for what they are about. */
function withoutSubscriptions(service: Service): Service {
  const { legacy, modern } = service.capabilities;
  const resources = modern.resources && {};
  return { ...service, capabilities: { legacy, modern: { ...modern, ...(resources && { resources }) } } };
}

const MODERN_PARAMS = { _meta: { [VERSION_KEY]: MODERN_VERSION, [CAPABILITIES_KEY]: {} } };

function toSdkMessage(value: unknown): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(value);
  } catch {
    return undefined;
  }
}
