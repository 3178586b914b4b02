import { action, ToolError } from "@octant/core";
import { showValue } from "@octant/runtime";
import { z } from "zod";
import { READ } from "./kinds.ts";
import type { ConsoleParts } from "./parts.ts";
import { CallDetail, ToolRow } from "./shapes.ts";

/** The limit for a request or an envelope; of a longer one only the beginning is shown. */
const MAX_SHOWN_CHARS = 512 * 1024;
const NOT_RECORDED =
  "this call is not recorded: only the last ones are, while a console is open; the audit log has its outcome";

export const call = ({ calls, redact }: ConsoleParts) =>
  action({
    summary: "Show a recent call with its whole request and answer, without secrets.",
    ...READ,
    input: z.strictObject({ trace_id: z.string() }),
    output: CallDetail,
    errors: ["NOT_FOUND"],
    examples: [
      { title: "A call", input: { trace_id: "0af7651916cd43dd8448eb211c80319c" }, fails: "NOT_FOUND" },
    ],
    run({ trace_id }) {
      const found = calls.get(trace_id);
      if (!found) throw new ToolError("NOT_FOUND", NOT_RECORDED, { id: trace_id });
      const { tool, action: name, caller, started_at, ended_at, input, reply } = found;
      const show = (value: unknown, bytes: number) => ({
        ...showValue(value, redact, MAX_SHOWN_CHARS),
        bytes,
      });
      return {
        trace_id,
        tool,
        action: name,
        caller,
        started_at,
        duration_ms: ended_at - started_at,
        code: reply.envelope.error?.code ?? "OK",
        request: show(input, found.request_bytes),
        envelope: show(reply.envelope, found.answer_bytes),
        pictures: reply.attachments
          .filter(({ kind }) => kind === "image")
          .map(({ mime, bytes }) => ({ mime, base64: Buffer.from(bytes).toString("base64") })),
      };
    },
  });

export const tools = ({ octant }: ConsoleParts) =>
  action({
    summary: "List the tools of this process with their actions; `schema` of a tool has the parameters.",
    ...READ,
    input: z.strictObject({}),
    output: z.object({ tools: z.array(ToolRow) }),
    examples: [{ title: "All of them", input: {} }],
    run: () => ({
      tools: octant.registry.list().map(({ name, summary, actions }) => ({
        name,
        summary,
        actions: Object.entries(actions).map(([id, one]) => ({
          name: id,
          summary: one.summary,
          access: one.access,
          intent: one.intent,
          timing: one.timing,
          destructive: one.destructive === true,
        })),
      })),
    }),
  });
