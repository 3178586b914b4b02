import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync, readSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { startTrusted } from "../programs/start-program.ts";
import { findTrusted } from "../programs/trusted-program.ts";
import { after } from "./timer.ts";

/**
 * Real pipes for children. Node's pipes are sockets, and a program cannot open `/dev/stdout`,
 * `/dev/stderr` or `/dev/stdin` on a socket: `echo oops >/dev/stderr` would fail.
 */
export interface Pipes {
  /** Both ends of a pipe, and its name; undefined where there are none to be had. */
  take(): Promise<Pipe | undefined>;
  /** Returns a pipe that was read to its end to the pool; no process has it open. */
  giveBack(name: string): void;
  close(): void;
}

export interface Pipe {
  readonly name: string;
  readonly readEnd: number;
  readonly writeEnd: number;
}

const BATCH = 16;
const PIPE_SUFFIX = ".pipe";

/** Node cannot create pipes, so the system's `mkfifo` creates named ones, many at a time. */
export function createPipes(folder: string): Pipes {
  const free: string[] = [];
  let making: Promise<void> | undefined;
  let canMake = true;

  const make = async () => {
    const names = Array.from({ length: BATCH }, () =>
      join(folder, `${randomBytes(8).toString("hex")}${PIPE_SUFFIX}`),
    );
    canMake = await makeNamedPipes(names);
    if (canMake) free.push(...names);
  };
  const remove = (name: string) => {
    try {
      unlinkSync(name);
    } catch {
      // Already removed by someone else's cleanup.
    }
  };

  return {
    async take() {
      while (canMake) {
        const name = free.pop();
        if (name !== undefined) {
          const pipe = openBothEnds(name);
          if (pipe) return pipe;
          remove(name);
          continue;
        }
        making ??= make().finally(() => {
          making = undefined;
        });
        await making;
      }
      return undefined;
    },
    giveBack: (name) => {
      free.push(name);
    },
    close() {
      canMake = false;
      for (const name of free.splice(0)) remove(name);
    },
  };
}

/**
 * Opens the reader first and non-blocking, so that the writer need not wait either. Libuv makes a child's stdin,
 * stdout or stderr blocking again.
 */
function openBothEnds(name: string): Pipe | undefined {
  let readEnd: number | undefined;
  try {
    readEnd = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
    return { name, readEnd, writeEnd: openSync(name, constants.O_WRONLY | constants.O_NONBLOCK) };
  } catch {
    if (readEnd !== undefined) closeSync(readEnd);
    return undefined;
  }
}

const READ_BYTES = 65_536;
/** More than a pipe holds; a process that fills it faster is still running. */
const MAX_READS_AT_ONCE = 4;
/** Most programs have exited by then, and their pipes need no watcher. */
const WAIT_AFTER_MS = 3;

export interface PipeEvents {
  /** The bytes are only good until this returns: all readers share one buffer. */
  bytes(bytes: Buffer): void;
  close(readToEnd: boolean): void;
}

/** Reads all that is in a pipe now, without waiting for the event loop. True when its end was reached: `close` follows. */
export type DrainNow = () => boolean;

/** Reads a pipe to its end. Reading begins soon; the returned function reads at once. */
export type ReadPipe = (fd: number, on: PipeEvents) => DrainNow;

export function createPipeReader(): ReadPipe {
  const buffer = Buffer.allocUnsafe(READ_BYTES);

  const wait = (fd: number, on: PipeEvents): DrainNow => {
    let ended = false;
    let isClosed = false;
    const callback = (count: number) => {
      on.bytes(buffer.subarray(0, count));
      return true;
    };
    const socket = new Socket({ fd, readable: true, writable: false, onread: { buffer, callback } });
    socket.on("end", () => {
      ended = true;
    });
    // A broken pipe has ended too, but is not to be used again.
    socket.on("error", () => {});
    socket.on("close", () => {
      isClosed = true;
      on.close(ended);
    });
    socket.resume();
    return () => {
      if (isClosed || ended) return true;
      ended = readAvailable(fd, on) === "end";
      if (ended) socket.destroy();
      return ended;
    };
  };
  const readAvailable = (fd: number, on: PipeEvents): "end" | "more" => {
    for (let reads = 0; reads < MAX_READS_AT_ONCE; reads++) {
      const count = readNow(fd, buffer);
      if (count === undefined) break;
      if (count === 0) return "end";
      on.bytes(buffer.subarray(0, count));
    }
    return "more";
  };

  return (fd, on) => {
    let drainWaiting: DrainNow | undefined;
    let isClosed = false;
    const startWaiting = () => {
      drainWaiting = wait(fd, on);
    };
    const callOff = after(WAIT_AFTER_MS, startWaiting);
    return () => {
      if (drainWaiting || isClosed) return isClosed || (drainWaiting?.() ?? false);
      callOff();
      isClosed = readAvailable(fd, on) === "end";
      if (isClosed) {
        closeSync(fd);
        on.close(true);
      } else startWaiting();
      return isClosed;
    };
  };
}

/** Undefined when nothing is there yet: something that the program started has the pipe open. */
function readNow(fd: number, buffer: Buffer): number | undefined {
  try {
    return readSync(fd, buffer);
  } catch {
    return undefined;
  }
}

const makeNamedPipes = (names: readonly string[]): Promise<boolean> =>
  new Promise((resolve) => {
    const mkfifo = findTrusted("mkfifo");
    if (mkfifo === undefined) return resolve(false);
    const child = startTrusted(mkfifo, ["-m", "600", ...names], { stdio: "ignore", env: {} });
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 0));
  });
