import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync, readSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { attempt } from "@octant/core";
import { startTrusted } from "../programs/start-program.ts";
import { findTrusted } from "../programs/trusted-program.ts";

export interface Pipe {
  readonly name: string;
  readonly readEnd: number;
  readonly writeEnd: number;
}

const BATCH = 16;

/**
 * Real pipes for children. Node's pipes are sockets, and a program cannot open `/dev/stdout`, `/dev/stderr` or
 * `/dev/stdin` on a socket: `echo oops >/dev/stderr` would fail. The system's `mkfifo` creates named ones, many at a time.
 */
export class Pipes {
  readonly #folder: string;
  readonly #free: string[] = [];
  #making: Promise<void> | undefined;
  #canMake = true;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Both ends of a pipe, and its name; undefined where they are not available. */
  async take(): Promise<Pipe | undefined> {
    while (this.#canMake) {
      const name = this.#free.pop();
      if (name !== undefined) {
        const pipe = openBothEnds(name);
        if (pipe) return pipe;
        rmSync(name, { force: true });
        continue;
      }
      this.#making ??= this.#make().finally(() => {
        this.#making = undefined;
      });
      await this.#making;
    }
    return undefined;
  }

  /** Returns a pipe that was read to its end to the pool; no process has it open. */
  giveBack(name: string): void {
    this.#free.push(name);
  }

  close(): void {
    this.#canMake = false;
    for (const name of this.#free.splice(0)) rmSync(name, { force: true });
  }

  async #make(): Promise<void> {
    const names = Array.from({ length: BATCH }, () =>
      join(this.#folder, `${randomBytes(8).toString("hex")}.pipe`),
    );
    this.#canMake = await makeNamedPipes(names);
    if (this.#canMake) this.#free.push(...names);
  }
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

export interface PipeEvents {
  /** The bytes are only valid until this returns: all readers share one buffer. */
  bytes(bytes: Buffer): void;
  close(readToEnd: boolean): void;
}

/** Reads all that is in a pipe now, without waiting for the event loop. True when its end was reached: `close` follows. */
export type DrainNow = () => boolean;

/** Reads a pipe to its end; the returned function reads at once. */
export type ReadPipe = (fd: number, on: PipeEvents) => DrainNow;

export function createPipeReader(): ReadPipe {
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  return (fd, on) => {
    let ended = false;
    const callback = (count: number) => {
      on.bytes(buffer.subarray(0, count));
      return true;
    };
    const socket = new Socket({ fd, readable: true, writable: false, onread: { buffer, callback } });
    socket.on("end", () => {
      ended = true;
    });
    // A broken pipe has ended too, but must not be reused.
    socket.on("error", () => {});
    socket.on("close", () => on.close(ended));
    socket.resume();
    return () => {
      for (let reads = 0; reads < MAX_READS_AT_ONCE && !ended && !socket.destroyed; reads++) {
        // Nothing is there yet: something that the program started has the pipe open.
        const count = attempt(() => readSync(fd, buffer));
        if (count === undefined) return false;
        ended = count === 0;
        if (!ended) on.bytes(buffer.subarray(0, count));
      }
      if (ended) socket.destroy();
      return ended || socket.destroyed;
    };
  };
}

const makeNamedPipes = (names: readonly string[]): Promise<boolean> =>
  new Promise((resolve) => {
    const mkfifo = findTrusted("mkfifo");
    if (mkfifo === undefined) return resolve(false);
    const child = startTrusted(mkfifo, ["-m", "600", ...names], { stdio: "ignore", env: {} });
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 0));
  });
