import {
  type Access,
  type AnyAction,
  action,
  type Caller,
  type Dispatch,
  type Registry,
  type Tool,
} from "@octant/core";
import type { McpServers, NamedTool, ServerResult } from "@octant/mcp-client";
import { z } from "zod";
import { toFailure } from "../run-calls.ts";
import type { ToolSource } from "../tool-executor.ts";

export interface McpExecutorOptions {
  readonly servers: McpServers;
  /** Creates a dispatcher whose policy applies to every call. */
  dispatchTo(tools: Pick<Registry, "get" | "list">): Dispatch;
  /** The caller; the session itself when absent. */
  readonly caller?: Caller;
  /** The maximum access of calls; a sub-agent gets less than its parent. */
  readonly access?: Access;
  /** Whether a tool may be used at all; others are not offered. */
  readonly allows?: (tool: string) => boolean;
}

/** Offers the tools of MCP servers as they connect; rules, hooks and the audit log use the same names. */
export function createMcpExecutor({
  servers,
  dispatchTo,
  caller: owner,
  access = "admin",
  allows = () => true,
}: McpExecutorOptions): ToolSource {
  // As first offered: listed tools stay, even when a server disconnects or changes them.
  const offered = new Map<string, NamedTool>();
  const all = () => {
    for (const tool of servers.tools())
      if (!tool.changed && !offered.has(tool.name) && allows(tool.name)) offered.set(tool.name, tool);
    return [...offered.values()];
  };
  const dispatch = dispatchTo({
    get(name) {
      const listed = offered.get(name);
      return listed && toTool(listed, servers);
    },
    list: () => all().map((one) => toTool(one, servers)),
  });

  return {
    definitions: () =>
      all().map(({ name, description, input_schema }) => ({ name, description, input_schema })),
    outline: ({ name }) => ({ title: name, kind: "other", reads_only: false, paths: [] }),
    async execute({ name, input }, { sessionId, ...given }) {
      const caller: Caller = owner ?? { id: sessionId, access };
      const { envelope } = await dispatch({ tool: name, action: CALL, input }, { caller, ...given });
      if (!envelope.ok) return toFailure(envelope.error.code, envelope.error.message);
      const { content, is_error } = envelope.data as ServerResult; // The output of `toTool`'s only action.
      return { content, is_error };
    },
  };
}

const CALL = "call";

/** One action that accepts any input. A server's claim that a tool is read-only is not trusted. */
function toTool({ name, description }: NamedTool, servers: McpServers): Tool {
  const call: AnyAction = action({
    summary: description.split("\n", 1)[0] || `Calls ${name}.`,
    access: "write",
    timing: "sync",
    intent: "apply",
    openWorld: true,
    input: z.looseObject({}),
    output: z.unknown(),
    errors: ["UPSTREAM_ERROR", "APPROVAL_REQUIRED", "UNKNOWN_TOOL", "UNAUTHENTICATED"],
    examples: [{ title: "Call it", input: {} }],
    run: (input, { signal, progress }) => servers.call(name, input, { signal, onProgress: progress }),
  });
  return { name, summary: call.summary, actions: { [CALL]: call } };
}
