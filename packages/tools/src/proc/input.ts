import { action, invalidArgument, ofKind, ownerFor } from "@octant/core";
import type { Processes, ProcessInfo } from "@octant/host";
import { z } from "zod";
import { VERIFY } from "../kinds.ts";
import {
  EXAMPLE_PROC,
  Outcome,
  Output,
  outputInput,
  ProcIdInput,
  type ProcWorkspace,
  runText,
  toOutcome,
  toOutput,
} from "./answer.ts";
import { TerminalSize } from "./exec.ts";
import { WaitFor, type Watched, waitUntilReady, watchOutput } from "./wait-for.ts";

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
    runsCommands: true,
    input: z.strictObject({
      proc_id: ProcIdInput,
      text: ofKind(
        "input",
        z.string().max(MAX_TEXT_CHARS).optional().describe("Sent verbatim; end a line with \\n"),
      ),
      keys: ofKind(
        "input",
        z.array(z.string().min(1)).max(MAX_KEYS).default([]).describe("After the text: enter, up, ctrl-c"),
      ),
      resize: TerminalSize.optional(),
      eof: z.boolean().default(false).describe("Close its input"),
      wait_for: WaitFor.optional(),
      wait: z.int().min(0).max(MAX_WAIT_MS).default(DEFAULT_WAIT_MS).describe("Maximum milliseconds"),
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
      const owner = ownerFor(ctx.caller);
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
  const meaning = PIPE_KEYS.get(key.toLowerCase()) ?? { text: keyBytes(key) };
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

const NAMED: Readonly<Record<string, string>> = {
  enter: "\r",
  tab: "\t",
  space: " ",
  escape: "\x1b",
  backspace: "\x7f",
  delete: "\x1b[3~",
  insert: "\x1b[2~",
  up: "\x1b[A",
  down: "\x1b[B",
  right: "\x1b[C",
  left: "\x1b[D",
  home: "\x1b[H",
  end: "\x1b[F",
  pageup: "\x1b[5~",
  pagedown: "\x1b[6~",
  f1: "\x1bOP",
  f2: "\x1bOQ",
  f3: "\x1bOR",
  f4: "\x1bOS",
  f5: "\x1b[15~",
  f6: "\x1b[17~",
  f7: "\x1b[18~",
  f8: "\x1b[19~",
  f9: "\x1b[20~",
  f10: "\x1b[21~",
  f11: "\x1b[23~",
  f12: "\x1b[24~",
};

const CTRL = /^ctrl-([a-z@[\\\]^_])$/;
const ALT = /^alt-(.+)$/;
const CONTROL_MASK = 0x1f;

/** The bytes that a terminal sends for the key. */
function keyBytes(key: string): string {
  const name = key.toLowerCase();
  if (Object.hasOwn(NAMED, name)) return NAMED[name] as string;
  const control = CTRL.exec(name)?.[1];
  if (control !== undefined) return String.fromCharCode(control.charCodeAt(0) & CONTROL_MASK);
  const alt = ALT.exec(key)?.[1];
  if (alt !== undefined) return `\x1b${[...alt].length === 1 ? alt : keyBytes(alt)}`;
  const known = Object.keys(NAMED).join(", ");
  throw invalidArgument("keys", `there is no key '${key}'; use ctrl-a to ctrl-z, alt-…, ${known}`);
}

/** The effect of keys on a process without a terminal; of the others it gets the bytes. */
const PIPE_KEYS = new Map<string, { readonly signal: NodeJS.Signals } | { readonly text: string } | "eof">([
  ["ctrl-c", { signal: "SIGINT" }],
  ["ctrl-\\", { signal: "SIGQUIT" }],
  ["ctrl-d", "eof"],
  ["enter", { text: "\n" }],
]);
