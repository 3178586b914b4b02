import { accessSync, closeSync, constants as fs, openSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { type Child, type ChildEvents, type ChildTools, signalName } from "./child.ts";
import type { StartOrder, TerminalSize } from "./protocol.ts";

/** Ctrl-D: the terminal turns it into the end of the input. */
const END_OF_INPUT = Buffer.of(4);

/** Starts a child on its own terminal. All its output is stdout, as on a screen. */
export async function startPtyChild(
  order: StartOrder,
  size: TerminalSize,
  { groups }: ChildTools,
  on: ChildEvents,
): Promise<Child> {
  checkProgram(order);
  const { spawn } = await import("@lydell/node-pty");
  const folder = holdFolder(order.cwd);
  // node-pty sets PWD to the path we change into, which is a descriptor path; set the real one.
  const args = ["-c", 'PWD=$1; shift; exec "$@"', "sh", order.folder, ...order.argv];
  const terminal = groups.startIn(order.proc_id, () =>
    spawn("/bin/sh", args, {
      ...size,
      cwd: folder.name,
      env: { ...order.env },
      name: order.env["TERM"] ?? "xterm-256color",
      encoding: null,
    }),
  );
  // With encoding null the data are bytes; the types do not know.
  terminal.onData((data) => on.output("stdout", data as unknown as Buffer));
  terminal.onExit(({ exitCode, signal }) => {
    folder.release();
    const name = signal ? (signalName(signal) ?? `signal ${signal}`) : null;
    on.exit(name === null ? exitCode : null, name);
    on.drained();
  });
  // It passes buffers through; its types allow only strings, which would be encoded again.
  const write = (bytes: Buffer) => terminal.write(bytes as unknown as string);
  return {
    pid: terminal.pid,
    input: { write, end: () => write(END_OF_INPUT), pending: () => 0 },
    resize: ({ cols, rows }) => terminal.resize(cols, rows),
  };
}

/** Linux: pins a place without opening it for reading. */
const PLACE = 0o10000000;

/** A terminal reports its start before the child has changed into its folder; until then the folder must stay open. */
function holdFolder(cwd: string): { readonly name: string; release(): void } {
  if (!cwd.startsWith("/proc/")) return { name: cwd, release: () => {} };
  const fd = openSync(cwd, PLACE | fs.O_DIRECTORY);
  return { name: `/proc/${process.pid}/fd/${fd}`, release: () => closeSync(fd) };
}

/** A terminal reports a missing program only in its output, so we check first; throws the system's error. */
function checkProgram({ argv: [program], env, folder }: Pick<StartOrder, "argv" | "env" | "folder">): void {
  if (program.includes("/")) return void checkFile(isAbsolute(program) ? program : join(folder, program));
  let failure: unknown;
  for (const path of (env["PATH"] ?? "").split(":")) {
    try {
      return void checkFile(join(path || folder, program));
    } catch (cause) {
      failure = cause;
    }
  }
  throw failure;
}

function checkFile(path: string): void {
  accessSync(path, fs.X_OK);
  if (statSync(path).isDirectory()) throw Object.assign(new Error("a folder"), { code: "EACCES" });
}
