import { action } from "@octant/core";
import type { Processes, ProcessInfo } from "@octant/host";
import { z } from "zod";
import { VERIFY } from "../kinds.ts";
import {
  EXAMPLE_PROC,
  Outcome,
  Output,
  outputInput,
  ProcIdInput,
  runText,
  toOutcome,
  toOutput,
} from "./answer.ts";
import { TerminalSize } from "./exec.ts";
import { keyBytes, pipeKey } from "./keys.ts";
import { WaitFor, type Watched, waitUntilReady, watchOutput } from "./wait-for.ts";
import type { ProcWorkspace } from "./workspace.ts";

const DEFAULT_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;
/** Output that pauses for this long has settled. */
const QUIET_MS = 100;
const MAX_TEXT_CHARS = 1024 * 1024;
const MAX_KEYS = 1_000;

export const input = ({ processes }: ProcWorkspace) =>
  action({
    summary: "Send input to a running process and read its response.",
    ...VERIFY,
    destructive: true,
    openWorld: true,
    input: z.strictObject({
      proc_id: ProcIdInput,
      text: z.string().max(MAX_TEXT_CHARS).optional().describe("Sent verbatim; end a line with \\n"),
      keys: z
        .array(z.string().min(1))
        .max(MAX_KEYS)
        .default([])
        .describe("Sent after the text, such as enter, up, ctrl-c"),
      resize: TerminalSize.optional(),
      eof: z.boolean().default(false).describe("Close its input"),
      wait_for: WaitFor.optional(),
      wait: z.int().min(0).max(MAX_WAIT_MS).default(DEFAULT_WAIT_MS).describe("Maximum wait in milliseconds"),
      ...outputInput,
    }),
    output: z.object({ ...Outcome, ...Output, ready: z.boolean().optional() }),
    errors: ["NOT_FOUND", "LIMIT_EXCEEDED", "INTERRUPTED"],
    examples: [
      {
        title: "A line for a REPL",
        input: { proc_id: EXAMPLE_PROC, text: "1 + 1\n" },
        fails: "NOT_FOUND",
      },
      {
        title: "Interrupt it",
        input: { proc_id: EXAMPLE_PROC, keys: ["ctrl-c"] },
        fails: "NOT_FOUND",
      },
    ],
    text: runText,
    async run({ proc_id, text, keys, resize, eof, wait_for, wait, ...options }, ctx) {
      const owner = ctx.caller.id;
      const before = processes.get(owner, proc_id);
      const watched = { processes, owner, proc_id, ms: wait, signal: ctx.signal };
      if (resize) await processes.resize(owner, proc_id, resize);
      if (text) await processes.write(owner, proc_id, Buffer.from(text));
      for (const key of keys) await press(processes, before, key);
      if (eof) await processes.write(owner, proc_id, "eof");
      const ready = wait_for && (await waitUntilReady(watched, wait_for, before));
      if (!wait_for) await outputSettles(watched, before);
      ctx.signal.throwIfAborted();
      const info = processes.get(owner, proc_id);
      return {
        ...toOutcome(info),
        ...toOutput(processes, info, { ...options, since: before }),
        ...(ready !== undefined && { ready }),
      };
    },
  });

async function press(processes: Processes, { owner, proc_id, pty }: ProcessInfo, key: string): Promise<void> {
  if (pty) return processes.write(owner, proc_id, Buffer.from(keyBytes(key)));
  const meaning = pipeKey(key);
  if (meaning === "eof") return processes.write(owner, proc_id, "eof");
  if ("text" in meaning) return processes.write(owner, proc_id, Buffer.from(meaning.text));
  await processes.kill(owner, proc_id, meaning.signal);
}

/** Waits for the first output, and then until it pauses. */
async function outputSettles(watched: Watched, before: ProcessInfo): Promise<void> {
  const { processes, owner, proc_id, ms } = watched;
  const deadline = performance.now() + ms;
  let seen = before.stdout_bytes + before.stderr_bytes;
  const hasNew = () => {
    const { stdout_bytes, stderr_bytes } = processes.get(owner, proc_id);
    const isNew = stdout_bytes + stderr_bytes !== seen;
    seen = stdout_bytes + stderr_bytes;
    return isNew;
  };
  let patience = ms;
  while (patience > 0 && (await watchOutput({ ...watched, ms: patience }, hasNew)))
    patience = Math.min(QUIET_MS, deadline - performance.now());
}
