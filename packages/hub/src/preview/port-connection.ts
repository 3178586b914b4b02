import { once } from "node:events";
import { Duplex } from "node:stream";
import { ToolError } from "@octant/core";
import type { ExecProcess } from "../engines/engine.ts";

/** The exit code when nothing listens. */
const REFUSED = 7;
/** Connects stdin and stdout to a port; a line break says that the connection is there. */
const FORWARD = `
const { connect } = require("node:net");
const { stdin, stdout } = process;
const tryNext = ([host, ...others]) => {
  const socket = connect({ host, port: Number(process.argv[1]), allowHalfOpen: true });
  const onRefused = () => (others.length > 0 ? tryNext(others) : process.exit(${REFUSED}));
  socket.once("error", onRefused).once("connect", () => {
    socket.off("error", onRefused).on("error", () => socket.destroy());
    socket.on("close", () => stdin.destroy());
    stdin.on("end", () => setTimeout(() => socket.destroy(), 5000).unref());
    stdout.on("error", () => socket.destroy());
    stdout.write("\\n");
    stdin.pipe(socket).pipe(stdout);
  });
};
tryNext(["127.0.0.1", "::1"]);
`;
const KILL_MS = 10_000;
const MAX_REASON_CHARS = 400;

/** The command in a container that connects to one of its ports. */
export const forwardArgv = (node: string, port: number): readonly string[] => [
  node,
  "-e",
  FORWARD,
  String(port),
];

/** Waits for the connection; UPSTREAM_ERROR when nothing listens on the port. */
export async function connectThrough(process: ExecProcess, port: number): Promise<PortConnection> {
  let problem = "";
  process.stderr.setEncoding("utf8").on("data", (text: string) => {
    problem = (problem + text).slice(-MAX_REASON_CHARS);
  });
  const ready = once(process.stdout, "readable").then(() => process.stdout.read(1) as Buffer | null);
  const first = await Promise.race([ready, process.exited.then(() => null)]);
  if (first !== null) return new PortConnection(process);
  const code = await process.exited;
  const why = code === REFUSED ? "" : `: the forwarder ended with ${code ?? "a signal"} ${problem.trim()}`;
  const message = `nothing listens on port ${port} in the container; start a server there, on 127.0.0.1 or all addresses${why}`;
  throw new ToolError("UPSTREAM_ERROR", message, {});
}

/** A connection to a port in a container, with what Node's HTTP client needs of a socket. */
class PortConnection extends Duplex {
  readonly #process: ExecProcess;
  #idleMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(process: ExecProcess) {
    super({ allowHalfOpen: true });
    this.#process = process;
    const { stdin, stdout, exited } = process;
    stdin.on("error", (cause) => this.destroy(cause));
    stdout.on("data", (chunk: Buffer) => {
      this.#touch();
      if (!this.push(chunk)) stdout.pause();
    });
    stdout.on("end", () => this.push(null));
    stdout.on("error", (cause) => this.destroy(cause));
    exited.then(
      () => this.destroy(),
      (cause: Error) => this.destroy(cause),
    );
  }

  override _read(): void {
    this.#process.stdout.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#touch();
    this.#process.stdin.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#process.stdin.end(done);
  }

  override _destroy(cause: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timer);
    const { stdin, stdout, exited } = this.#process;
    stdin.end();
    stdout.resume();
    const timer = setTimeout(() => void this.#process.kill().catch(() => {}), KILL_MS);
    timer.unref();
    const stop = () => clearTimeout(timer);
    exited.then(stop, stop);
    done(cause);
  }

  /** Emits `timeout` after this time without data. */
  setTimeout(ms: number, onTimeout?: () => void): this {
    this.#idleMs = ms;
    if (onTimeout) this.once("timeout", onTimeout);
    this.#touch();
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }

  #touch(): void {
    clearTimeout(this.#timer);
    if (this.#idleMs > 0) this.#timer = setTimeout(() => this.emit("timeout"), this.#idleMs).unref();
  }
}
