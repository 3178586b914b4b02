import { type PackContext, ToolError } from "@octant/core";
import type { z } from "zod";
import { BUILT_IN } from "./built-in.ts";
import { readOpenApi } from "./openapi.ts";
import type { Operation } from "./operation.ts";
import { send, upstream } from "./send.ts";
import type { Settings } from "./settings.ts";

export interface Catalog {
  readonly operations: readonly Operation[];
  /** Why these may not be the server's operations. */
  readonly note?: string;
  readonly source: "the server's description" | "built-in operations";
}

const MAX_AGE_MS = 10 * 60 * 1_000;

/**
 * The operations of the server: those that it describes, or the built-in ones when it has no description. A dry run
 * works without the server, and says so.
 */
export function createCatalog(
  { base_url, openapi }: z.output<Settings>,
  credentials: PackContext["credentials"],
) {
  let known: { readonly catalog: Catalog; readonly at: number } | undefined;
  const load = async (signal: AbortSignal): Promise<Catalog> => {
    const url = `${base_url.replace(/\/+$/, "")}${openapi}`;
    const request = { method: "GET", url, headers: { accept: "application/json" } };
    try {
      const { data } = await send(request, credentials, signal);
      return { operations: readOpenApi(data), source: "the server's description" };
    } catch (cause) {
      if (cause instanceof ToolError && cause.code === "NOT_FOUND")
        return { operations: BUILT_IN, source: "built-in operations" };
      if (cause instanceof ToolError) throw cause;
      throw upstream(url, `its description cannot be used: ${String(cause).slice(0, 500)}`);
    }
  };
  return async (signal: AbortSignal, isDry: boolean): Promise<Catalog> => {
    if (known && performance.now() - known.at < MAX_AGE_MS) return known.catalog;
    try {
      known = { catalog: await load(signal), at: performance.now() };
    } catch (cause) {
      const isOffline =
        cause instanceof ToolError && (cause.code === "UNAUTHENTICATED" || cause.code === "UPSTREAM_ERROR");
      if (!isDry || !isOffline) throw cause;
      const note = `the server could not be asked for its operations, so these are the built-in ones: ${cause.message}`;
      return { operations: BUILT_IN, source: "built-in operations", note };
    }
    return known.catalog;
  };
}
