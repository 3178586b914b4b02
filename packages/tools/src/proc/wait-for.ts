import { connect } from "node:net";
import { invalidArgument } from "@octant/core";
import type { Processes, ProcessInfo, Spool } from "@octant/host";
import { z } from "zod";
import { createEscapeStripper } from "./terminal-text.ts";

const MAX_PATTERN_CHARS = 1_000;
const MAX_PORT = 65_535;
const PROBE_EVERY_MS = 50;
const PROBE_PATIENCE_MS = 1_000;
const READ_BYTES = 64 * 1024;

/** Not a regular expression: a caller's could block the server. */
const Pattern = z
  .string()
  .min(1)
  .max(MAX_PATTERN_CHARS)
  .describe("Literal text in the output; | separates alternatives");

export const WaitFor = z
  .strictObject({
    pattern: Pattern.optional(),
    port: z.int().min(1).max(MAX_PORT).optional().describe("TCP port on this machine"),
  })
  .refine(({ pattern, port }) => pattern !== undefined || port !== undefined, "pattern or port is required")
  .describe("Wait for output or an open port");
export type WaitFor = z.output<typeof WaitFor>;

/** Whether the text was printed, or the port opened, before the process ended or the time was up. */
export async function waitUntilReady(
  watched: Watched,
  { pattern, port }: WaitFor,
  since: Printed = NOTHING,
): Promise<boolean> {
  const done = new AbortController();
  const watching = { ...watched, signal: AbortSignal.any([watched.signal, done.signal]) };
  const ways = [
    ...(pattern === undefined ? [] : [watchOutput(watching, createSearch(watched, pattern, since))]),
    ...(port === undefined ? [] : [portOpens(watching, port)]),
  ];
  const ready = await Promise.any(ways.map(async (way) => (await way) || Promise.reject())).catch(
    () => false,
  );
  done.abort();
  return ready;
}

type Printed = Pick<ProcessInfo, "stdout_bytes" | "stderr_bytes">;
const NOTHING: Printed = { stdout_bytes: 0, stderr_bytes: 0 };

/** Each call looks at the new output of both streams. */
function createSearch(
  { processes, owner, proc_id }: Watched,
  pattern: string,
  since: Printed,
): () => boolean {
  const texts = pattern.split("|").filter((text) => text !== "");
  const inStdout = searchSpool(processes.output(owner, proc_id, "stdout"), texts, since.stdout_bytes);
  const inStderr = searchSpool(processes.output(owner, proc_id, "stderr"), texts, since.stderr_bytes);
  return () => inStdout() || inStderr();
}

function searchSpool(spool: Spool, texts: readonly string[], from: number): () => boolean {
  const stripper = createEscapeStripper();
  const decoder = new TextDecoder();
  const overlap = Math.max(...texts.map((text) => text.length)) - 1;
  let offset = from;
  let end = "";
  let found = false;
  return () => {
    while (!found) {
      const { start, bytes } = spool.read(offset, READ_BYTES);
      if (bytes.length === 0) break;
      offset = start + bytes.length;
      const text = end + stripper.push(decoder.decode(bytes, { stream: true }));
      found = texts.some((wanted) => text.includes(wanted));
      end = overlap > 0 ? text.slice(-overlap) : "";
    }
    return found;
  };
}

async function portOpens({ processes, owner, proc_id, ms, signal }: Watched, port: number): Promise<boolean> {
  for (const started = performance.now(); !signal.aborted && performance.now() - started < ms; ) {
    if (await answersOn(port)) return true;
    const { status } = await processes.exited(owner, proc_id, PROBE_EVERY_MS, signal);
    if (status !== "running") return false;
  }
  return false;
}

/** Checked before the start: a port that is already open would report another program as ready. */
export async function checkPortIsFree(port: number): Promise<void> {
  if (!(await answersOn(port))) return;
  const message = `something listens on port ${port} already; stop it or use another port`;
  throw invalidArgument("wait_for.port", message);
}

const answersOn = async (port: number): Promise<boolean> =>
  (await Promise.all(["127.0.0.1", "::1"].map((host) => canConnect(host, port)))).includes(true);

const canConnect = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: PROBE_PATIENCE_MS });
    const answer = (can: boolean) => {
      socket.destroy();
      resolve(can);
    };
    socket.on("connect", () => answer(true));
    socket.on("error", () => answer(false));
    socket.on("timeout", () => answer(false));
  });

export interface Watched {
  readonly processes: Processes;
  readonly owner: string | null;
  readonly proc_id: string;
  readonly ms: number;
  readonly signal: AbortSignal;
}

/** Checks now and after every new output, until the condition holds, the process ends or the time is up. */
export async function watchOutput(
  { processes, owner, proc_id, ms, signal }: Watched,
  isEnough: () => boolean,
): Promise<boolean> {
  const enough = new AbortController();
  const look = () => {
    if (!enough.signal.aborted && isEnough()) enough.abort();
  };
  const stop = processes.onOutput(proc_id, look);
  try {
    look();
    await processes
      .exited(owner, proc_id, ms, AbortSignal.any([signal, enough.signal]))
      .catch((cause: unknown) => {
        if (!enough.signal.aborted) throw cause;
      });
    look();
    return enough.signal.aborted;
  } finally {
    stop();
  }
}
