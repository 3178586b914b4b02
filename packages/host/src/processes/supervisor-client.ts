import type { ChildProcess } from "node:child_process";
import { extname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ToolError } from "@octant/core";
import { startTrusted } from "../programs/start-program.ts";
import { thisNode } from "../programs/trusted-program.ts";
import { isStopped } from "./process-table.ts";
import {
  type EndRecord,
  type Hello,
  type Refusal,
  type RequestName,
  type Requests,
  SERVER_MARK,
  type ToServer,
  type ToSupervisor,
} from "./protocol.ts";

/** The server's end of the line to its supervisor. */
export interface SupervisorClient {
  readonly pid: number | undefined;
  /** Rejects with a RequestRefused, or a SupervisorLost. */
  ask<N extends RequestName>(name: N, ask: Requests[N]["ask"]): Promise<Requests[N]["answer"]>;
  /** Keeps this process alive while a command runs. */
  hold(on: boolean): void;
  /** Takes everything down; resolves when the supervisor has exited. */
  close(): Promise<void>;
  /** After `close`: that waits no longer than until the supervisor has taken it on, which outlives this process. */
  leave(): Promise<void>;
}

export interface SupervisorEvents {
  output(proc_id: string): void;
  ended(proc_id: string, end: EndRecord): void;
  /** It died without having taken down everything. */
  lost(): void;
}

export class RequestRefused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.kind);
    this.refusal = refusal;
  }
}

export class SupervisorLost extends Error {}

/** A supervisor silent for this long was stopped, perhaps by its own child, and is killed. */
const ANSWER_MS = 5_000;
/** Longer than the supervisor takes to end the most stubborn processes. */
const ENDING_MS = 8_000;
/** Within the time that a server has to end. */
const CLOSING_ANSWER_MS = 500;
const LEAVING_LOOKS = 6;
const LEAVING_LOOK_MS = 20;

/** Starts a supervisor in its own session with an almost empty environment, because children can read their parent's. */
export function startSupervisor(hello: Hello, on: SupervisorEvents): SupervisorClient {
  const { NODE_COMPILE_CACHE } = process.env;
  const child = startTrusted(thisNode(), [...STAY_SMALL, ENTRY], {
    cwd: "/",
    env: { [SERVER_MARK]: hello.server, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) },
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const pending = new Map<number, { resolve(answer: never): void; reject(error: Error): void }>();
  const closeTaken = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  let requests = 0;
  let closing = false;
  let isGone = false;

  const settle = (id: number) => {
    const request = pending.get(id);
    pending.delete(id);
    return request;
  };
  const rejectAll = (error: Error) => {
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  };
  const end = (inGoodOrder: boolean) => {
    if (isGone) return;
    isGone = true;
    rejectAll(new SupervisorLost("the supervisor has exited"));
    if (!inGoodOrder) on.lost();
    closeTaken.resolve();
    gone.resolve();
  };
  child.on("error", () => end(false));
  child.on("exit", (code) => end(closing && code === 0));
  child.on("message", (raw) => {
    const message = raw as ToServer; // The other end is not shared.
    if (message.type === "output") on.output(message.proc_id);
    else if (message.type === "ended") on.ended(message.proc_id, message.end);
    else if (message.type === "closing") closeTaken.resolve();
    else if (message.type === "reply")
      settle(message.id)?.resolve(message.answer as never); // As Requests has it.
    else settle(message.id)?.reject(new RequestRefused(message.refusal));
  });
  const send = (message: ToSupervisor) => {
    // A failed send is followed by the exit event.
    if (child.connected) child.send(message, () => {});
  };
  const killUnless = (done: Promise<unknown>, ms: number) => {
    let waiting = true;
    // If this process was suspended, the answer has already arrived and is read first.
    const timer = setTimeout(() => setImmediate(() => waiting && child.kill("SIGKILL")), ms);
    const callOff = () => {
      waiting = false;
      clearTimeout(timer);
    };
    done.then(callOff, callOff);
  };
  send({ type: "hello", hello });
  hold(child, false);

  return {
    pid: child.pid,
    ask(name, ask) {
      const { promise, resolve, reject } = Promise.withResolvers<Requests[typeof name]["answer"]>();
      if (isGone) reject(new SupervisorLost("the supervisor has exited"));
      else {
        const id = ++requests;
        pending.set(id, { resolve, reject });
        // A name with its request; the compiler cannot correlate the union here.
        send({ type: "request", id, name, ask } as ToSupervisor);
        killUnless(promise, name === "kill" ? ENDING_MS : ANSWER_MS);
      }
      return promise;
    },
    hold: (on) => hold(child, on),
    async close() {
      closing = true;
      hold(child, true);
      child.kill("SIGCONT");
      send({ type: "close" });
      const done = Promise.race([gone.promise, left.promise]);
      killUnless(closeTaken.promise, CLOSING_ANSWER_MS);
      killUnless(done, ENDING_MS);
      await done;
    },
    async leave() {
      rejectAll(new ToolError("CANCELLED", "the server stops", {}));
      await closeTaken.promise;
      // A command that stops it again and again lets it answer at times, but never finish.
      for (
        let look = 0;
        look < LEAVING_LOOKS && child.exitCode === null && child.signalCode === null;
        look++
      ) {
        if (child.pid !== undefined && isStopped(child.pid)) child.kill("SIGKILL");
        await Promise.race([gone.promise, delay(LEAVING_LOOK_MS)]);
      }
      hold(child, false);
      left.resolve();
    },
  };
}

/**
 * A fork costs a process by its threads and by the memory that it has written to. A supervisor does next to nothing in
 * JavaScript: it needs no threads that compile it, and a small place for what lives shortly, which else grows to 100 MB.
 */
const STAY_SMALL = ["--single-threaded", "--max-semi-space-size=1"];

/** Beside this file, in the sources and in the build. */
const ENTRY = fileURLToPath(new URL(`./supervisor-entry${extname(import.meta.url)}`, import.meta.url));

function hold(child: ChildProcess, on: boolean): void {
  if (on) {
    child.ref();
    child.channel?.ref();
  } else {
    child.unref();
    child.channel?.unref();
  }
}
