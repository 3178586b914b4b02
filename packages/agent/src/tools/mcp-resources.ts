import {
  type Access,
  action,
  type Caller,
  createRegistry,
  type Dispatch,
  defineTool,
  type Registry,
} from "@octant/core";
import type { McpServers, ServerResource } from "@octant/mcp-client";
import { z } from "zod";
import type { ToolSource } from "../tool-executor.ts";
import { createDispatchExecutor } from "./dispatch-executor.ts";

export interface ResourceExecutorOptions {
  readonly servers: Pick<McpServers, "resources" | "read">;
  /** Creates a dispatcher whose policy applies to every call. */
  dispatchTo(tools: Registry): Dispatch;
  readonly caller?: Caller;
  readonly access?: Access;
  readonly allows?: (tool: string) => boolean;
}

/** One tool for the resources of all MCP servers, offered as soon as one of them has some. */
export function createResourceExecutor(options: ResourceExecutorOptions): ToolSource {
  const { servers, dispatchTo, caller, access, allows = () => true } = options;
  const registry = createRegistry([]);
  const tool = mcpResources(servers);
  const { definitions, outline, execute } = createDispatchExecutor({
    host: { dispatch: dispatchTo(registry), registry, roots: [] },
    ...(caller && { caller }),
    ...(access && { access }),
  });
  return {
    definitions() {
      if (allows(tool.name) && !registry.get(tool.name) && servers.resources().length > 0)
        registry.addTool(tool);
      return definitions();
    },
    outline,
    execute,
  };
}

const Resource = z.object({
  server: z.string(),
  uri: z.string().describe("A template such as notes://{day} where is_template"),
  is_template: z.boolean(),
  name: z.string(),
  description: z.string(),
});

const mcpResources = (servers: ResourceExecutorOptions["servers"]) =>
  defineTool({
    name: "mcp_resources",
    summary: "Documents and data that MCP servers offer under URIs.",
    actions: {
      list: action({
        summary: "List the resources and resource templates of the MCP servers.",
        access: "read",
        timing: "sync",
        intent: "inspect",
        input: z.strictObject({ server: z.string().optional().describe("Only those of this server") }),
        output: z.object({ resources: z.array(Resource) }),
        examples: [{ title: "Everything there is", input: {} }],
        text: ({ resources }) => ({ body: resources.map(toLine).join("\n") || "no resources" }),
        run: ({ server }) => ({
          resources: servers.resources().filter((one) => server === undefined || one.server === server),
        }),
      }),
      read: action({
        summary: "Read a resource of an MCP server.",
        // Reading makes the server run code of unknown effect.
        access: "write",
        timing: "async_medium",
        intent: "apply",
        openWorld: true,
        input: z.strictObject({
          server: z.string(),
          uri: z.string().describe("As listed, or a template with its values filled in"),
        }),
        output: z.object({ text: z.string() }),
        errors: ["NOT_FOUND", "UPSTREAM_ERROR", "UNAUTHENTICATED"],
        examples: [{ title: "Read a note", input: { server: "notes", uri: "notes://today" } }],
        text: ({ text }) => ({ body: text }),
        async run({ server, uri }, ctx) {
          const { content } = await servers.read(server, uri, ctx.signal);
          for (const part of content)
            if (part.type === "image")
              ctx.attach({ kind: "image", mime: part.mime, bytes: Buffer.from(part.data, "base64") });
          return { text: content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n") };
        },
      }),
    },
  });

const toLine = ({ server, uri, name, description }: ServerResource): string =>
  `${server} ${uri} ${[name, description].filter((text) => text !== "").join(": ")}`.trimEnd();
