import { action, ownerFor, pagingInput } from "@octant/core";
import { type Spool, wholeCharacters } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import {
  EXAMPLE_PROC,
  ending,
  Outcome,
  outputInput,
  ProcIdInput,
  type ProcWorkspace,
  toOutcome,
} from "./answer.ts";
import { toText } from "./output-text.ts";
import { watchOutput } from "./wait-for.ts";

const DEFAULT_WAIT_MS = 30_000;
const MAX_WAIT_MS = 120_000;
const LF = 10;

const Position = z.int().min(0);

export const logs = ({ processes }: ProcWorkspace) =>
  action({
    summary: "Read a process's output: the tail, from a byte offset, or as it arrives.",
    ...INSPECT,
    input: z.strictObject({
      proc_id: ProcIdInput,
      stream: z.enum(["stdout", "stderr"]).default("stdout"),
      tail: z.int().min(1).optional().describe("Only the last lines"),
      since: z.int().min(0).optional().describe("Start at this byte; use `next` of the previous answer"),
      follow: z.boolean().default(false).describe("Wait for output if there is none yet"),
      wait: z.int().min(0).max(MAX_WAIT_MS).default(DEFAULT_WAIT_MS).describe("Maximum milliseconds"),
      cursor: pagingInput(1, 1).cursor,
      ...outputInput,
    }),
    output: z.object({
      ...Outcome,
      stream: z.enum(["stdout", "stderr"]),
      text: z.string(),
      start: z.int().describe("Offset of the first byte"),
      next: z.int().describe("Offset after the last byte: `since` for the next call"),
      total: z.int().describe("Bytes printed so far"),
      missing: z.int().describe("Bytes before `start` that are no longer stored"),
    }),
    errors: ["NOT_FOUND", "INVALID_CURSOR"],
    examples: [
      {
        title: "The last lines",
        input: { proc_id: EXAMPLE_PROC, tail: 20 },
        fails: "NOT_FOUND",
      },
      {
        title: "Wait for more",
        input: { proc_id: EXAMPLE_PROC, since: 1200, follow: true },
        fails: "NOT_FOUND",
      },
    ],
    text: (data) => ({
      body: data.text,
      notes: [
        ending(data),
        data.text === "" && "nothing new",
        data.missing > 0 && `${data.missing} earlier bytes are no longer stored`,
      ],
      handles: { since: data.status === "running" || data.next < data.total ? data.next : undefined },
    }),
    async run({ proc_id, stream, tail, since, follow, wait, max_bytes, raw }, ctx) {
      const owner = ownerFor(ctx.caller);
      const spool = processes.output(owner, proc_id, stream);
      const from = ctx.resume(Position) ?? since ?? (follow && tail === undefined ? spool.total() : 0);
      const watched = { processes, owner, proc_id, ms: wait, signal: ctx.signal };
      if (follow) await watchOutput(watched, () => spool.total() > from);
      ctx.signal.throwIfAborted();
      const info = processes.get(owner, proc_id);
      const total = spool.total();
      const part =
        tail === undefined
          ? spool.read(Math.min(from, total), max_bytes)
          : readTail(spool, from, tail, max_bytes);
      // An incomplete character is left for the next answer.
      const hasMore = info.status === "running" || part.start + part.bytes.length < total;
      const bytes = hasMore ? part.bytes.subarray(0, wholeCharacters(part.bytes)) : part.bytes;
      const next = part.start + bytes.length;
      if (next < total && bytes.length > 0) ctx.more(next);
      return {
        ...toOutcome(info),
        stream,
        text: toText(bytes, raw),
        start: part.start,
        next,
        total,
        missing: tail === undefined ? part.start - from : 0,
      };
    },
  });

/** The last lines after `from`, within the budget. */
function readTail(spool: Spool, from: number, lines: number, budget: number) {
  const total = spool.total();
  const { start, bytes } = spool.read(Math.max(Math.min(from, total), total - budget), budget);
  // A final line feed ends the last line and does not start another.
  let at = bytes.length - (bytes.at(-1) === LF ? 1 : 0);
  for (let left = lines; left > 0 && at >= 0; left--) at = at === 0 ? -1 : bytes.lastIndexOf(LF, at - 1);
  return { start: start + at + 1, bytes: bytes.subarray(at + 1) };
}
