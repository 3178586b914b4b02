// The work of the thread that isolate.ts starts. It answers each "next" with a part of the result, and ends with the result itself.
import { once } from "node:events";
import { parentPort, workerData } from "node:worker_threads";
import { ToolError } from "@octant/core";
import type { Message, Order } from "./isolate.ts";
import { STREAMS, WORKS } from "./works.ts";

// isolate.ts passes exactly this type.
const { kind, input } = workerData as Order;
const tell = (message: Message) => parentPort?.postMessage(message);

try {
  // The types of both tables tie the input to the kind; the message between threads cannot.
  if (kind in STREAMS) {
    const parts = await STREAMS[kind as keyof typeof STREAMS](input as never);
    for await (const part of parts) {
      tell({ kind: "part", part });
      if (parentPort) await once(parentPort, "message");
    }
    tell({ kind: "done", value: undefined });
  } else {
    const work = WORKS[kind as keyof typeof WORKS] as (input: unknown) => unknown;
    tell({ kind: "done", value: await work(input) });
  }
} catch (cause) {
  if (cause instanceof ToolError)
    tell({ kind: "refused", code: cause.code, message: cause.message, details: cause.details });
  else tell({ kind: "failed", message: cause instanceof Error ? cause.message : String(cause) });
}
