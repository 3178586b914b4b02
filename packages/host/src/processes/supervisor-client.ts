import { type ChildProcess, spawn } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { EndRecord, Hello, Refusal, RequestName, Requests, ToServer, ToSupervisor } from "./protocol.ts";

/** The server's end of the line to its supervisor. */
export interface SupervisorClient {
  readonly pid: number | undefined;
  /** Rejects with a RequestRefused, or a SupervisorLost. */
  ask<N extends RequestName>(name: N, ask: Requests[N]["ask"]): Promise<Requests[N]["answer"]>;
  /** Keeps this process alive while something runs, and lets it go when nothing does. */
  hold(on: boolean): void;
  /** Takes everything down; resolves when the supervisor is gone. */
  close(): Promise<void>;
}

export interface SupervisorEvents {
  output(proc_id: string): void;
  ended(proc_id: string, end: EndRecord): void;
  /** It died without being asked to. */
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

/** Longer than the supervisor takes for the most stubborn processes. */
const CLOSE_PATIENCE_MS = 8_000;

/** Starts a supervisor in a session of its own, with an empty environment: children can read that of their parent. */
export function startSupervisor(hello: Hello, on: SupervisorEvents): SupervisorClient {
  const child = spawn(process.execPath, [FEW_THREADS, ENTRY], {
    cwd: "/",
    env: {},
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const pending = new Map<number, { resolve(answer: never): void; reject(error: Error): void }>();
  const gone = Promise.withResolvers<void>();
  let requests = 0;
  let closing = false;
  let isGone = false;

  const settle = (id: number) => {
    const request = pending.get(id);
    pending.delete(id);
    return request;
  };
  const leave = () => {
    if (isGone) return;
    isGone = true;
    for (const { reject } of pending.values()) reject(new SupervisorLost("the supervisor is gone"));
    pending.clear();
    if (!closing) on.lost();
    gone.resolve();
  };
  child.on("error", leave);
  child.on("exit", leave);
  child.on("message", (raw) => {
    const message = raw as ToServer; // Nobody else has the other end.
    if (message.type === "output") on.output(message.proc_id);
    else if (message.type === "ended") on.ended(message.proc_id, message.end);
    else if (message.type === "reply")
      settle(message.id)?.resolve(message.answer as never); // As Requests has it.
    else settle(message.id)?.reject(new RequestRefused(message.refusal));
  });
  const send = (message: ToSupervisor) => {
    // What cannot be sent is known by the exit that follows.
    if (child.connected) child.send(message, () => {});
  };
  send({ type: "hello", hello });
  hold(child, false);

  return {
    pid: child.pid,
    ask: (name, ask) =>
      new Promise((resolve, reject) => {
        if (isGone) return reject(new SupervisorLost("the supervisor is gone"));
        const id = ++requests;
        pending.set(id, { resolve, reject });
        // A pair of a name and what it asks for; the union of them cannot be seen from here.
        send({ type: "request", id, name, ask } as ToSupervisor);
      }),
    hold: (on) => hold(child, on),
    async close() {
      closing = true;
      hold(child, true);
      send({ type: "close" });
      const timer = setTimeout(() => child.kill("SIGKILL"), CLOSE_PATIENCE_MS);
      await gone.promise;
      clearTimeout(timer);
    },
  };
}

/** A supervisor does next to nothing in JavaScript; threads that compile it would only slow down its forks. */
const FEW_THREADS = "--single-threaded";

/** Beside this file, in the sources as in what is built from them. */
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
