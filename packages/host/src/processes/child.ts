import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { startLaunched } from "../programs/start-program.ts";
import type { Groups } from "./cgroup.ts";
import type { DrainNow, Pipe, Pipes, ReadPipe } from "./pipes.ts";
import type { PreparedSandboxes } from "./prepared-sandboxes.ts";
import { STREAMS, type StartOrder, type StreamName, type TerminalSize } from "./protocol.ts";

/** A running process. It leads its own session, and its output is always drained. */
export interface Child {
  readonly pid: number;
  /** Its standard input; absent when it has none. */
  readonly input?: ChildInput;
  resize?(size: TerminalSize): void;
  /** Reads the output available now. Returns true at the end of all output; `drained` resolves next. */
  readOutput?(): boolean;
}

export interface ChildInput {
  write(bytes: Buffer): void;
  end(): void;
  /** Bytes that the process has not taken yet. */
  pending(): number;
}

export interface ChildEvents {
  /** The bytes are only valid until this returns. */
  output(stream: StreamName, bytes: Buffer): void;
  exit(code: number | null, signal: string | null): void;
  /** All output has come; this may be long after the exit, when a grandchild holds it open. */
  drained(): void;
}

export interface ChildTools {
  readonly pipes: Pipes;
  readonly readPipe: ReadPipe;
  readonly groups: Groups;
  readonly prepared: PreparedSandboxes;
}

/** Starts a child on pipes; throws the system's error when it cannot be started. */
export async function startChild(order: StartOrder, tools: ChildTools, on: ChildEvents): Promise<Child> {
  const { pipes, groups, prepared } = tools;
  const waiting = order.prepared ? prepared.take(order.prepared) : undefined;
  if (waiting) return attachTo(waiting.child, waiting, tools, on);
  const stdout = await pipes.take();
  const stderr = await pipes.take();
  const stdin = order.stdin === "open" ? await pipes.take() : undefined;
  let child: ChildProcess;
  try {
    child = groups.startIn(order.proc_id, () => spawnOn(order, { stdin, stdout, stderr }));
  } catch (cause) {
    for (const end of [stdin?.writeEnd, stdout?.readEnd, stderr?.readEnd]) if (end) closeSync(end);
    throw cause;
  } finally {
    for (const end of [stdin?.readEnd, stdout?.writeEnd, stderr?.writeEnd]) if (end) closeSync(end);
  }
  const input = stdin ? new Socket({ fd: stdin.writeEnd, readable: false, writable: true }) : child.stdin;
  return attachTo(child, { stdout, stderr, input }, tools, on);
}

interface Streams extends Readonly<Record<StreamName, Pipe | undefined>> {
  readonly input?: Writable | null;
}

async function attachTo(
  child: ChildProcess,
  { stdout, stderr, input }: Streams,
  { pipes, readPipe }: ChildTools,
  on: ChildEvents,
): Promise<Child> {
  const draining = new Set<StreamName>(STREAMS);
  const drain = (name: StreamName, pipe: Pipe | undefined, stream: Readable | null): DrainNow => {
    const close = (readToEnd: boolean) => {
      if (pipe && readToEnd) pipes.giveBack(pipe.name);
      draining.delete(name);
      if (draining.size === 0) on.drained();
    };
    if (pipe) return readPipe(pipe.readEnd, { bytes: (bytes) => on.output(name, bytes), close });
    stream?.on("data", (bytes: Buffer) => on.output(name, bytes));
    stream?.on("close", () => close(false));
    return () => !draining.has(name);
  };
  const drains = [drain("stdout", stdout, child.stdout), drain("stderr", stderr, child.stderr)];
  const readOutput = () => drains.map((drainNow) => drainNow()).every(Boolean);
  child.on("exit", (code, signal) => {
    readOutput();
    on.exit(code, signal);
  });
  if (child.pid !== undefined) return { pid: child.pid, readOutput, ...(input && { input: toInput(input) }) };
  input?.destroy();
  readOutput();
  throw (await once(child, "error"))[0];
}

function spawnOn(
  { argv: [argv0, ...args], program, cwd, env, stdin: source }: StartOrder,
  { stdin, stdout, stderr }: Readonly<Record<StreamName | "stdin", Pipe | undefined>>,
): ChildProcess {
  const file = typeof source === "object" ? takeFile(source.file) : undefined;
  // Node's own pipes where named pipes are not available.
  const input = file ?? stdin?.readEnd ?? (source === "open" ? "pipe" : "ignore");
  const stdio = [input, stdout?.writeEnd ?? "pipe", stderr?.writeEnd ?? "pipe"] as const;
  try {
    return startLaunched(program, args, { argv0, cwd, env, detached: true, stdio: [...stdio] });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Unlinks the file, so that it disappears when the child closes it. */
function takeFile(path: string): number {
  const fd = openSync(path, "r");
  unlinkSync(path);
  return fd;
}

function toInput(stream: Writable): ChildInput {
  // A child may close its input or exit with bytes unread; the exit event covers both.
  stream.on("error", () => {});
  return {
    write: (bytes) => {
      stream.write(bytes);
    },
    end: () => {
      stream.end();
    },
    pending: () => stream.writableLength,
  };
}

/** Undefined for a number that is not a signal. */
export const signalName = (number: number): string | undefined =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
