import type { ChildProcess } from "node:child_process";
import { extname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ToolError } from "@octant/core";
import { startTrusted } from "../programs/start-program.ts";
import { thisNode } from "../programs/trusted-program.ts";
import { hasProcessTable, isStopped } from "./process-table.ts";
import {
  type EndRecord,
  type Hello,
  type RequestName,
  type RequestOf,
  type Requests,
  SERVER_MARK,
  type ToServer,
  type ToSupervisor,
} from "./protocol.ts";

export interface SupervisorEvents {
  output(proc_id: string): void;
  ended(proc_id: string, end: EndRecord): void;
  /** It died before it had ended all processes. */
  lost(): void;
}

/** A supervisor silent for this long may have been stopped, perhaps by its own child, and is then killed. */
const ANSWER_MS = 5_000;
/** One that is not stopped may only be short of processor time; silent for this long it is killed, too. */
const MAX_SILENCE_MS = 120_000;
/** Longer than the supervisor takes to end the most stubborn processes. */
const ENDING_MS = 8_000;
/** Within the time that a server has to end. */
const CLOSING_ANSWER_MS = 500;
const LEAVING_POLLS = 6;
const LEAVING_POLL_MS = 20;

/**
 * A fork costs a process by its threads and by the memory that it has written to. A supervisor runs little JavaScript:
 * it needs no compiler threads, and only a small young generation, which would otherwise grow to 100 MB.
 */
const LOW_MEMORY_FLAGS = ["--single-threaded", "--max-semi-space-size=1"];

/** Beside this file, in the sources and in the build. */
const ENTRY = fileURLToPath(new URL(`./supervisor-entry${extname(import.meta.url)}`, import.meta.url));

/** The server's end of the channel to a supervisor, which it starts. */
export class SupervisorClient {
  readonly #child: ChildProcess;
  readonly #on: SupervisorEvents;
  readonly #answerMs: number;
  readonly #pending = new Map<number, { resolve(answer: never): void; reject(error: Error): void }>();
  readonly #closeTaken = Promise.withResolvers<void>();
  readonly #left = Promise.withResolvers<void>();
  readonly #gone = Promise.withResolvers<void>();
  #requests = 0;
  #closing = false;
  #isGone = false;

  /** In its own session with an almost empty environment, because children can read their parent's. */
  constructor(hello: Hello, on: SupervisorEvents, answerMs = ANSWER_MS) {
    const { NODE_COMPILE_CACHE } = process.env;
    this.#on = on;
    this.#answerMs = answerMs;
    this.#child = startTrusted(thisNode(), [...LOW_MEMORY_FLAGS, ENTRY], {
      cwd: "/",
      env: { [SERVER_MARK]: hello.server, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) },
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    this.#child.on("error", () => this.#end(false));
    this.#child.on("exit", (code) => this.#end(this.#closing && code === 0));
    this.#child.on("message", (message) => this.#receive(message as ToServer)); // The other end is not shared.
    this.#send({ type: "hello", hello });
    this.hold(false);
  }

  /** Rejects with a ToolError: the supervisor's, or INTERRUPTED when it is lost. */
  ask<N extends RequestName>(name: N, ask: RequestOf<N>): ReturnType<Requests[N]> {
    const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<Requests[N]>>>();
    if (this.#isGone) reject(lost());
    else {
      const id = ++this.#requests;
      this.#pending.set(id, { resolve, reject });
      this.#send({ type: "request", id, name, ask });
      this.#killUnless(promise, name === "kill" ? ENDING_MS : this.#answerMs, MAX_SILENCE_MS);
    }
    return promise as ReturnType<Requests[N]>; // Each request returns a promise.
  }

  /** Keeps this process alive while a command runs. */
  hold(on: boolean): void {
    const change = on ? "ref" : "unref";
    this.#child[change]();
    this.#child.channel?.[change]();
  }

  /** Ends all processes; resolves when the supervisor has exited. */
  async close(): Promise<void> {
    this.#closing = true;
    this.hold(true);
    this.#child.kill("SIGCONT");
    this.#send({ type: "close" });
    const done = Promise.race([this.#gone.promise, this.#left.promise]);
    this.#killUnless(this.#closeTaken.promise, CLOSING_ANSWER_MS);
    this.#killUnless(done, ENDING_MS);
    await done;
  }

  /** After `close`: it then waits only until the supervisor, which outlives this process, has accepted it. */
  async leave(): Promise<void> {
    const child = this.#child;
    this.#rejectAll(new ToolError("CANCELLED", "the server stops", {}));
    await this.#closeTaken.promise;
    // A command that stops it again and again lets it answer at times, but never finish.
    for (let look = 0; look < LEAVING_POLLS && !this.#isGone; look++) {
      if (child.pid !== undefined && isStopped(child.pid)) child.kill("SIGKILL");
      await Promise.race([this.#gone.promise, delay(LEAVING_POLL_MS)]);
    }
    this.hold(false);
    this.#left.resolve();
  }

  #receive(message: ToServer): void {
    if (message.type === "output") this.#on.output(message.proc_id);
    else if (message.type === "ended") this.#on.ended(message.proc_id, message.end);
    else if (message.type === "closing") this.#closeTaken.resolve();
    else {
      const request = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      // As Requests has it.
      if (message.type === "reply") request?.resolve(message.answer as never);
      else {
        const { code, message: text, details } = message.error;
        request?.reject(new ToolError(code, text, details));
      }
    }
  }

  #send(message: ToSupervisor): void {
    // A failed send is followed by the exit event.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  /** After `ms` it is killed when it is stopped, and in any case after `maxMs`. */
  #killUnless(done: Promise<unknown>, ms: number, maxMs = ms): void {
    let waiting = true;
    let waited = 0;
    const look = () => {
      if (!waiting) return;
      waited += ms;
      if (waited >= maxMs || this.#mayBeStopped()) this.#child.kill("SIGKILL");
      else arm();
    };
    let timer: NodeJS.Timeout;
    // If this process was suspended, the answer has already arrived and is read first.
    const arm = () => {
      timer = setTimeout(() => setImmediate(look), ms);
    };
    const callOff = () => {
      waiting = false;
      clearTimeout(timer);
    };
    arm();
    done.then(callOff, callOff);
  }

  #mayBeStopped(): boolean {
    const { pid } = this.#child;
    return pid === undefined || !hasProcessTable() || isStopped(pid);
  }

  #end(inGoodOrder: boolean): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#rejectAll(lost());
    if (!inGoodOrder) this.#on.lost();
    this.#closeTaken.resolve();
    this.#gone.resolve();
  }

  #rejectAll(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}

const lost = () =>
  new ToolError(
    "INTERRUPTED",
    "the process supervisor died and took its processes along; start them again",
    {},
  );
