import { ToolError } from "@octant/core";
import { UsageError } from "./command.ts";

/** A NATS server that cannot be used, or has no worker, is for the person to set right. */
export function explainNats(cause: unknown): never {
  if (!(cause instanceof ToolError)) throw cause;
  throw new UsageError(cause.message, "docs/wire.md shows how workers and edges are started");
}
