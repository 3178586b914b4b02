import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { createListing, createShorten, createToText, ToolError } from "@octant/core";
import { createFormFor, toResultsFor } from "../src/answer.ts";
import type { ServiceOptions } from "../src/service.ts";
import type { FeatureContext } from "../src/sources.ts";

const LIST = { ttlMs: 300_000, cacheScope: "public" } as const;
const OWN = { ttlMs: 0, cacheScope: "private" } as const;

/** The same tools and features on the official SDK's own server, the reference for ours. */
export function createOracle(options: ServiceOptions, era: "legacy" | "modern"): Server {
  const { registry, resources, prompts, completions, logging, instructions } = options;
  const { name, version, title, description, websiteUrl, icons } = options;
  const info = { name, version, ...(title && { title }) };
  const full = { ...info, ...(description && { description, websiteUrl, icons }) };
  // The SDK's types require mutable values, although it only serialises them.
  const server = new Server((era === "legacy" ? full : info) as never, {
    ...(instructions && { instructions }),
    capabilities: {
      tools: { listChanged: true },
      ...(resources && { resources: { subscribe: true } }),
      ...(prompts && { prompts: {} }),
      ...(completions && { completions: {} }),
      ...(logging && { logging: {} }),
    },
    cacheHints: {
      "server/discover": LIST,
      "tools/list": LIST,
      "prompts/list": LIST,
      "resources/templates/list": LIST,
      "resources/list": OWN,
      "resources/read": OWN,
    },
  });
  const answers = createFormFor(options.answers)(undefined);
  const listing = () => createListing({ registry, answers });
  const { [answers]: toResult } = toResultsFor(
    options.answers,
    createToText(registry, options.roots ?? []),
    createShorten(registry, options.roots ?? []),
  );
  const caller = { id: "local", access: "admin" } as const;
  const contextOf = ({ mcpReq }: ServerContext): FeatureContext => ({
    caller,
    signal: mcpReq.signal,
    // Nothing here asks the client.
    exchange: undefined as never,
  });

  server.setRequestHandler("tools/list", ({ params }) => {
    if (params?.cursor !== undefined) throw invalid("one page");
    return { tools: listing().tools as never };
  });
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const call = listing().toCall(params.name, params.arguments ?? {});
    if (!call) throw invalid(`unknown tool ${params.name}`);
    const { signal, _meta } = mcpReq;
    const traceparent = _meta?.["traceparent"];
    return { ...toResult(await options.dispatch(call, { caller, signal, traceparent })) } as never;
  });
  let isReady = era === "modern";
  server.oninitialized = () => {
    isReady = true;
  };
  registry.changes.listen(() => {
    if (isReady) void server.sendToolListChanged().catch(() => {});
  });
  if (prompts) {
    server.setRequestHandler("prompts/list", () => ({ prompts: prompts.list() as never }));
    server.setRequestHandler("prompts/get", async ({ params }, context) => {
      const args = params.arguments ?? {};
      const prompt = prompts.list().find((one) => one.name === params.name);
      const isComplete = prompt?.arguments?.every((one) => !one.required || args[one.name]);
      if (!isComplete) throw invalid(params.name);
      return { ...(await prompts.get(params.name, args, contextOf(context))) } as never;
    });
  }
  if (completions)
    server.setRequestHandler("completion/complete", async ({ params }, context) => {
      const ref = params.ref as { readonly name?: string; readonly uri?: string };
      const isKnown =
        prompts?.list().some((one) => one.name === ref.name) ||
        resources?.templates.some((one) => one.uriTemplate === ref.uri);
      if (!isKnown) throw invalid("unknown ref");
      const of = ref.name === undefined ? { template: ref.uri ?? "" } : { prompt: ref.name };
      const { name: argument, value } = params.argument;
      const all = await completions({ of, argument, value, others: {} }, contextOf(context));
      const values = all.slice(0, 100);
      return { completion: { values, total: all.length, hasMore: values.length < all.length } };
    });
  if (resources) {
    server.setRequestHandler("resources/list", async ({ params }, context) => {
      const page = await resources.list(params?.cursor, contextOf(context)).catch(toOracleError);
      return { ...page } as never;
    });
    server.setRequestHandler("resources/templates/list", ({ params }) => {
      if (params?.cursor !== undefined) throw invalid("one page");
      return { resourceTemplates: resources.templates as never };
    });
    server.setRequestHandler("resources/read", async ({ params: { uri } }, context) => {
      const contents = await resources.read(uri, contextOf(context)).catch(toOracleError);
      if (!contents) throw new ResourceNotFoundError(uri);
      return { contents: contents as never };
    });
    if (era === "legacy") {
      server.setRequestHandler("resources/subscribe", async ({ params: { uri } }, { mcpReq }) => {
        if (!(await resources.subscribe?.(uri, () => {}, { caller, signal: mcpReq.signal })))
          throw new ResourceNotFoundError(uri);
        return {};
      });
      server.setRequestHandler("resources/unsubscribe", () => ({}));
    }
  }
  return server;
}

const invalid = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);

function toOracleError(cause: unknown): never {
  if (!(cause instanceof ToolError)) throw cause;
  const isAboutParams = cause.code === "INVALID_CURSOR";
  const { InvalidParams, InternalError } = ProtocolErrorCode;
  throw new ProtocolError(isAboutParams ? InvalidParams : InternalError, cause.message);
}
