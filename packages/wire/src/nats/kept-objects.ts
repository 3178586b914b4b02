import { createReadStream, createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ObjectStore } from "@nats-io/obj";
import { ToolError } from "@octant/core";
import { type NatsConnection, toUpstreamError } from "./connection.ts";
import { KEPT_BUCKET } from "./subjects.ts";

export type KeptObjects = Awaited<ReturnType<typeof openKeptObjects>>;

/** Files in JetStream's object store. They outlive the process that stored them, and its disk. */
export async function openKeptObjects({ openBucket }: Pick<NatsConnection, "openBucket">) {
  const store = await openBucket(KEPT_BUCKET);
  return {
    /** Resolves when the server has all of it. */
    async put(name: string, file: string): Promise<void> {
      // The types of the object store mean the global class, which is the same one.
      const bytes = Readable.toWeb(createReadStream(file)) as Parameters<ObjectStore["put"]>[1];
      try {
        await store.put({ name }, bytes);
      } catch (cause) {
        throw toStoreError(cause);
      }
    },
    /** Writes it to a file; NOT_FOUND when the store does not have it. */
    async get(name: string, file: string): Promise<void> {
      try {
        const found = await store.get(name);
        if (!found) throw new ToolError("NOT_FOUND", `the object store has no '${name}'`, { id: name });
        await pipeline(
          Readable.fromWeb(found.data as Parameters<typeof Readable.fromWeb>[0]),
          createWriteStream(file, { mode: 0o600 }),
        );
        const failure = await found.error;
        if (failure)
          throw new ToolError("UPSTREAM_ERROR", `'${name}' did not arrive whole: ${failure.message}`, {});
      } catch (cause) {
        throw toStoreError(cause);
      }
    },
    async remove(name: string): Promise<void> {
      await store.delete(name);
    },
  };
}

function toStoreError(cause: unknown): unknown {
  if (cause instanceof ToolError) return cause;
  const upstream = toUpstreamError(cause);
  if (upstream === cause) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ToolError(
    "UPSTREAM_ERROR",
    `the object store of the NATS server did not answer: ${reason}`,
    {},
    { cause },
  );
}
