import { ToolError } from "@octant/core";
import { UsageError } from "./command.ts";

/** Turns a failure of the NATS server or its workers into an error that the person can act on. */
export function explainNats(cause: unknown): never {
  if (!(cause instanceof ToolError)) throw cause;
  throw new UsageError(cause.message, "docs/wire.md shows how workers and edges are started");
}
