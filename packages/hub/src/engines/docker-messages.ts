import type { Readable } from "node:stream";
import { attempt, createLineSplitter, ToolError } from "@octant/core";
import type { OnLine } from "./engine.ts";

const MAX_LINE_BYTES = 1024 * 1024;
const MAX_MESSAGE_CHARS = 1_000;

/** Follows the JSON lines of a build or download to their end; throws when they report a failure. */
export async function followMessages(source: Readable, onLine: OnLine): Promise<void> {
  let failure: string | undefined;
  const feed = createLineSplitter(
    {
      onLine(line) {
        // Engines document these fields.
        const message = attempt(
          () => JSON.parse(line) as { stream?: string; status?: string; progress?: string; error?: string },
        );
        if (message?.error !== undefined) failure = message.error;
        const shown = message ? (message.stream ?? message.status ?? message.error ?? "") : line;
        for (const part of shown.split("\n")) if (part.trim() !== "") onLine(part.trimEnd());
      },
    },
    MAX_LINE_BYTES,
  );
  for await (const chunk of source) feed(chunk);
  feed(Buffer.from("\n"));
  if (failure === undefined) return;
  throw new ToolError(
    "UPSTREAM_ERROR",
    `the container engine failed: ${failure.trim().slice(-MAX_MESSAGE_CHARS)}`,
    {},
  );
}
