import { once } from "node:events";
import { readdirSync, rmSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt, invalidArgument, ToolError } from "@octant/core";
import { isStopped, openSocketFolder, readLines } from "@octant/host";
import {
  type AttendedBatch,
  type ControlAnswer,
  ControlCallAnswer,
  type ControlEvent,
  ControlReply,
  type ControlRequest,
  ProcessStatus,
} from "./protocol.ts";

/** A stopped process is reported when it has not answered for this long. */
const STOPPED_MS = 2_000;
/** Any other may only be busy or short of processor time; silent for this long, it is reported, too. */
const MAX_SILENCE_MS = 30_000;

/** A connection to a process of the same person. */
export interface ControlClient extends Disposable {
  readonly pid: number;
  status(): Promise<ProcessStatus>;
  answer(question_id: string, answer: ControlAnswer): Promise<void>;
  /** Resolves when the process has begun to send; `onEvent` receives events until the connection closes. */
  follow(
    options: Pick<Extract<ControlRequest, { method: "follow" }>, "topics" | "retained">,
    onEvent: (event: ControlEvent) => void,
  ): Promise<void>;
  /**
   * Resolves when the process has begun to send batches; they come until the connection closes. The first one has the
   * calls that run, and those that ended after that time.
   */
  attend(onBatch: (batch: AttendedBatch) => void, after?: number): Promise<void>;
  /** Waits as long as the call takes; INTERRUPTED when the process ends before. Aborting the signal cancels it. */
  call(request: ControlCall, signal: AbortSignal): Promise<ControlCallAnswer>;
  /** Resolves when the process is gone. */
  readonly closed: Promise<unknown>;
}

export type ControlCall = Omit<Extract<ControlRequest, { method: "call" }>, "id" | "method">;

/** The processes of this person that can be reached; sockets that killed ones have left are removed. */
export async function findProcesses(env: NodeJS.ProcessEnv = process.env): Promise<readonly ControlClient[]> {
  const folder = openSocketFolder(env);
  // Not listSockets: a caller may ask until its own process is found, which opens its socket only when the loop turns.
  const names = (await readdir(folder)).filter((name) => NAME.test(name));
  const found = await Promise.all(names.map((name) => connectTo(folder, name)));
  return found.filter((one) => one !== undefined).sort((a, b) => a.pid - b.pid);
}

const NAME = /^(?<pid>\d+)-[0-9a-f]+\.sock$/;

export const listSockets = (folder: string): readonly string[] =>
  readdirSync(folder).filter((name) => NAME.test(name));

const pidOf = (name: string): number => Number(NAME.exec(name)?.groups?.["pid"]);

/** A process makes the file a moment before it listens there. */
const STARTING_MS = 10_000;

const isStarting = (path: string, pid: number): boolean =>
  attempt(() => process.kill(pid, 0) && Date.now() - statSync(path).mtimeMs < STARTING_MS) ?? false;

/** undefined when no process listens there any more. */
export async function connectTo(folder: string, name: string): Promise<ControlClient | undefined> {
  const path = join(folder, name);
  const socket = connect(path);
  try {
    await once(socket, "connect");
  } catch {
    if (!isStarting(path, pidOf(name))) rmSync(path, { force: true });
    return undefined;
  }
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let asked = 0;
  let onEvent: (event: ControlEvent) => void = () => {};
  let onBatch: (batch: AttendedBatch) => void = () => {};
  // A process that is killed resets the connection, which is one way of closing it.
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve())).then(() => {
    for (const { reject } of waiting.values()) reject(gone());
  });
  socket.on("error", () => socket.destroy());
  readLines(socket, (line) => {
    const reply = ControlReply.parse(JSON.parse(line));
    if ("event" in reply) return onEvent(reply.event);
    if ("batch" in reply) return onBatch(reply.batch);
    const entry = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ("result" in reply) entry?.resolve(reply.result);
    else entry?.reject(toError(reply.error));
  });
  const send = (request: Record<string, unknown>) => {
    const id = ++asked;
    const entry = Promise.withResolvers<unknown>();
    waiting.set(id, entry);
    if (socket.destroyed) entry.reject(gone());
    else socket.write(`${JSON.stringify({ id, ...request })}\n`);
    return { id, answer: entry.promise };
  };
  const ask = async (request: Record<string, unknown>): Promise<unknown> => {
    const enough = new AbortController();
    try {
      return await Promise.race([send(request).answer, tooLate(pidOf(name), enough.signal)]);
    } finally {
      enough.abort();
    }
  };
  return {
    pid: pidOf(name),
    closed,
    status: async () => ProcessStatus.parse(await ask({ method: "status" })),
    async answer(question_id, answer) {
      await ask({ method: "answer", question_id, answer });
    },
    async follow(options, listener) {
      onEvent = listener;
      await ask({ method: "follow", ...options });
    },
    async attend(listener, after) {
      onBatch = listener;
      await ask({ method: "attend", after });
    },
    async call(request, signal) {
      signal.throwIfAborted();
      const { id, answer } = send({ method: "call", ...request });
      const cancel = () => void send({ method: "cancel", call: id }).answer.catch(() => {});
      signal.addEventListener("abort", cancel, { once: true });
      try {
        return ControlCallAnswer.parse(await answer);
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    },
    [Symbol.dispose]() {
      socket.destroy();
    },
  };
}

const gone = () => new ToolError("INTERRUPTED", "the process has ended", {});

async function tooLate(pid: number, signal: AbortSignal): Promise<never> {
  let after_ms = 0;
  do {
    await sleep(STOPPED_MS, undefined, { ref: false, signal });
    after_ms += STOPPED_MS;
  } while (after_ms < MAX_SILENCE_MS && !isStopped(pid));
  throw new ToolError("TIMEOUT", `no answer within ${after_ms} ms`, { after_ms });
}

const toError = ({ code, message }: { readonly code: string; readonly message: string }): ToolError =>
  code === "NOT_FOUND" ? new ToolError(code, message, {}) : invalidArgument("answer", message);
