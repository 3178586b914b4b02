import {
  type AnyAction,
  type Backend,
  BackendStatus,
  type Caller,
  type Context,
  orAborted,
  type StreamChunk,
  ToolError,
} from "@octant/core";
import type { WireClient } from "@octant/wire";
import { z } from "zod";

interface Sources {
  /** The process, started when it does not run. */
  use(): Promise<{
    readonly client: Pick<WireClient, "dispatch">;
    readonly over: Promise<string>;
    logTail(): string;
  }>;
  failed(reason: string): ToolError;
  /** Receives the end of the pack's log, which names the bug. */
  onBug(logTail: string): void;
  readonly callers: Map<string, { readonly caller: Caller; calls: number }>;
}

/** The kinds of chunks that a pack may stream; others are left out. */
const Chunk = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("progress"),
    progress: z.number(),
    total: z.number().optional(),
    message: z.string().optional(),
  }),
  z.object({ kind: z.literal("log"), line: z.string() }),
  z.object({ kind: z.literal("text"), text: z.string() }),
  z.object({ kind: z.literal("binary"), bytes: z.instanceof(Uint8Array) }),
  z.object({ kind: z.literal("missing"), bytes: z.number().optional(), chunks: z.number().optional() }),
]) satisfies z.ZodType<StreamChunk>;

const Picture = z.object({
  kind: z.enum(["image", "audio"]),
  mime: z.string(),
  bytes: z.instanceof(Uint8Array),
});

const Cursor = z.object({ cursor: z.string() });

/** Runs the actions of a pack in its process; their progress, streams, questions and pages are those of the call. */
export function callPack({ use, failed, callers, onBug }: Sources) {
  const enter = (caller: Caller) => {
    const entry = callers.get(caller.id) ?? { caller, calls: 0 };
    callers.set(caller.id, { caller, calls: entry.calls + 1 });
    return () => {
      const { calls = 1 } = callers.get(caller.id) ?? {};
      if (calls > 1) callers.set(caller.id, { caller, calls: calls - 1 });
      else callers.delete(caller.id);
    };
  };
  const call =
    (tool: string, action: string): AnyAction["run"] =>
    async (given: Readonly<Record<string, unknown>>, ctx: Context) => {
      const { client, over, logTail } = await use();
      const leave = enter(ctx.caller);
      const position = ctx.resume(Cursor);
      const input = position ? { ...given, cursor: position.cursor } : given;
      const { caller, signal, front: ask, upload } = ctx;
      const options = { caller, signal, ask, upload, onStream: (chunk: unknown) => forward(chunk, ctx) };
      try {
        const outcome = await orAborted(
          Promise.race([
            client.dispatch({ tool, action, input }, options),
            over.then((reason) => ({ failure: failed(`${reason}; the log of the server has the details`) })),
          ]),
          signal,
        );
        if ("failure" in outcome) throw outcome.failure;
        const { envelope, attachments } = outcome;
        const { meta } = envelope;
        if (typeof meta.backend === "string") ctx.backend(meta.backend);
        if (envelope.error?.code === "INTERNAL") onBug(logTail());
        if (!envelope.ok) throw toError(envelope.error);
        if (typeof meta.paging?.cursor === "string") ctx.more({ cursor: meta.paging.cursor });
        for (const one of attachments.slice(0, MAX_ATTACHMENTS)) {
          const picture = Picture.safeParse(one);
          if (picture.success) ctx.attach(picture.data);
        }
        return envelope.data;
      } finally {
        leave();
      }
    };
  const backends = async (tool: string): Promise<readonly Backend[]> => {
    const { client } = await use();
    const { envelope } = await client.dispatch({ tool, action: "status", input: {} }, {});
    const found = z.object({ backends: z.array(BackendStatus) }).safeParse(envelope.data);
    return found.success ? found.data.backends : [];
  };
  return Object.assign(call, { backends });
}

const MAX_ATTACHMENTS = 16;

function forward(chunk: unknown, ctx: Context): void {
  const { data } = Chunk.safeParse(chunk);
  if (data?.kind === "progress") ctx.progress(data);
  else if (data) ctx.emit(data);
}

const MAX_MESSAGE_CHARS = 10_000;

/** The pack's own error. A bug of the pack is one for our caller, too: the process has logged it. */
function toError({ code, message, details }: { code: string; message: string; details: object }): Error {
  const text = message.slice(0, MAX_MESSAGE_CHARS);
  // The client has checked that the code is one of ours.
  if (code !== "INTERNAL") return new ToolError(code as "UPSTREAM_ERROR", text, details);
  return new ToolError("UPSTREAM_ERROR", "the pack has a bug; the log of the server has the details", {});
}
