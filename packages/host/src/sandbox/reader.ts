import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "@octant/core";
import { toBytes } from "../path.ts";
import { createPipeReader, createPipes, type Pipe } from "../processes/pipes.ts";
import { endTree } from "../processes/process-tree.ts";
import { PROCESS_MARK, type StreamName } from "../processes/protocol.ts";
import { startLaunched } from "../programs/start-program.ts";
import { shellQuote } from "../shell-quote.ts";
import type { Launch, Reader, ReaderCommand } from "./sandbox.ts";

/** A folder of ours for pipes and input, and its name inside. */
export interface Exchange {
  readonly outside: string;
  readonly inside: string;
}

export interface ResidentReader extends Reader {
  /** Whether it accepts commands: it may have died or exited after being idle. */
  isOpen(): boolean;
  /** It exits after the running commands. */
  retire(): void;
  readonly gone: Promise<void>;
  /** Ends all that runs, and itself. */
  close(): Promise<void>;
}

/** The program for the launcher to start. */
export const READER_ARGV = ["/bin/sh"] as const;

const IDLE_MS = 5 * 60_000;
/** How long a program has to end by itself. */
const GRACE_MS = 2_000;
/** An order may still be on its way when its program is to end. */
const ROUND_MS = 20;
/** A shell that has not reported an exit by then was stopped, and is killed with its children. */
const PATIENCE_MS = 10_000;
const MAX_REASON_CHARS = 500;

/**
 * A resident shell in the sandbox that starts programs: its fork is as cheap as ours outside, while a new sandbox
 * costs several times as much as many a program. Commands are lines on its input; for each it prints the exit code.
 * The output of programs arrives through named pipes.
 */
export function createReader(
  { argv: [program, ...args], env, folder }: Launch,
  exchange: Exchange,
): ResidentReader {
  const shell = startLaunched(program, args, { cwd: folder, env, stdio: "pipe", detached: true });
  const pipes = createPipes(exchange.outside);
  const readPipe = createPipeReader();
  const running = new Map<string, PromiseWithResolvers<number>>();
  const gone = Promise.withResolvers<void>();
  let isOpen = true;
  let isGone = false;
  let idle: NodeJS.Timeout | undefined;
  let reason = "";

  const retire = () => {
    isOpen = false;
    clearTimeout(idle);
    if (running.size === 0) shell.stdin.end();
  };
  const settle = (id: string) => {
    running.delete(id);
    if (running.size > 0) return;
    if (!isOpen) return retire();
    idle = setTimeout(retire, IDLE_MS).unref();
  };
  const end = (cause?: Error) => {
    isOpen = false;
    isGone = true;
    clearTimeout(idle);
    pipes.close();
    for (const { reject } of running.values()) reject(lost(cause ?? new Error(reason)));
    gone.resolve();
  };
  shell.on("error", end);
  shell.on("close", () => end());
  // A failed write is followed by the exit event.
  shell.stdin.on("error", () => {});
  shell.stderr.on("data", (text: Buffer) => {
    reason = (reason + text).slice(-MAX_REASON_CHARS);
  });
  createInterface({ input: shell.stdout }).on("line", (line) => {
    const [id = "", code] = line.split(" ");
    running.get(id)?.resolve(Number(code));
  });
  hold(shell, false);

  const run = async (
    id: string,
    command: ReaderCommand,
    onOutput: (name: StreamName, bytes: Buffer) => void,
  ): Promise<number> => {
    if (isGone) throw lost(new Error(reason));
    const exit = Promise.withResolvers<number>();
    // The shell may exit before anything awaits this promise.
    exit.promise.catch(() => {});
    clearTimeout(idle);
    running.set(id, exit);
    const input = command.input.length > 0 ? join(exchange.outside, `${id}.input`) : undefined;
    const outputs: Pipe[] = [];
    const drained: Promise<void>[] = [];
    try {
      for (const name of ["stdout", "stderr"] as const) {
        const pipe = await pipes.take();
        if (!pipe) throw isGone ? lost(new Error(reason)) : noPipes();
        outputs.push(pipe);
        drained.push(drain(pipe, (bytes) => onOutput(name, bytes)));
      }
      if (input !== undefined) writeFileSync(input, command.input, { mode: 0o600, flag: "wx" });
      const nameInside = (path: string) => `${exchange.inside}/${basename(path)}`;
      const [stdout = "", stderr = ""] = outputs.map(({ name }) => nameInside(name));
      const stdin = input === undefined ? "/dev/null" : nameInside(input);
      shell.stdin.write(toBytes(toOrder(id, command, { stdin, stdout, stderr })));
      return await exit.promise;
    } finally {
      for (const { writeEnd } of outputs) closeSync(writeEnd);
      await Promise.all(drained);
      if (input !== undefined) rmSync(input, { force: true });
      settle(id);
    }
  };
  const drain = ({ name, readEnd }: Pipe, onBytes: (bytes: Buffer) => void): Promise<void> =>
    new Promise((resolve) => {
      readPipe(readEnd, {
        bytes: (bytes) => onBytes(Buffer.from(bytes)),
        close(readToEnd) {
          if (readToEnd) pipes.giveBack(name);
          resolve();
        },
      });
    });

  const endProgram = async (id: string) => {
    const tree = { leaders: [], mark: `${PROCESS_MARK}=${id}` };
    const started = performance.now();
    while (running.has(id)) {
      await endTree(tree, { signal: "SIGTERM", graceMs: GRACE_MS });
      if (performance.now() - started > PATIENCE_MS) shell.kill("SIGKILL");
      await delay(ROUND_MS);
    }
  };

  return {
    start(command, onOutput) {
      const id = randomBytes(8).toString("hex");
      const ended = run(id, command, onOutput);
      return { ended, end: () => void endProgram(id) };
    },
    isOpen: () => isOpen,
    retire,
    gone: gone.promise,
    async close() {
      isOpen = false;
      hold(shell, true);
      shell.kill("SIGKILL");
      await gone.promise;
    },
  };
}

/** Runs in a detached subshell, so that the next order is read at once and no zombie remains. */
function toOrder(
  id: string,
  { argv, folder, env }: ReaderCommand,
  { stdin, stdout, stderr }: Readonly<Record<StreamName | "stdin", string>>,
): string {
  const variables = Object.entries({ ...env, [PROCESS_MARK]: id }).map(
    ([name, value]) => `${name}=${shellQuote(value)}`,
  );
  const program = [...variables, ...argv.map(shellQuote)].join(" ");
  return `( { cd ${shellQuote(folder)} && ${program} <${stdin} >${stdout} 2>${stderr}; echo "${id} $?"; } & )\n`;
}

/** Running commands keep this process alive through their pipes; an idle shell does not. */
function hold(shell: ChildProcess, on: boolean): void {
  // The streams of a child are sockets; the types know streams only.
  const streams = [shell.stdin, shell.stdout, shell.stderr] as (Socket | null)[];
  for (const one of [shell, ...streams])
    if (on) one?.ref();
    else one?.unref();
}

const noPipes = () =>
  new ToolError("EXEC_FAILED", "git cannot be read from: `mkfifo` does not work here; install coreutils", {
    program: "mkfifo",
  });

const lost = (cause: Error) =>
  new ToolError(
    "EXEC_FAILED",
    "git's sandbox ended before git did; try again, and `octant doctor` shows whether it works",
    { program: "git" },
    { cause },
  );
