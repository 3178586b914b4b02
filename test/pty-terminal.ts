import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { vi } from "vitest";
import { LAUNCHER } from "./published-command.ts";

/** A person's terminal: a shell in a real pty, with an emulator that shows what they would see. */
export interface PtyTerminal extends AsyncDisposable {
  readonly pid: number;
  type(text: string): void;
  resize(columns: number, rows: number): void;
  /** Scrollback and screen, without trailing spaces. */
  all(): Promise<string[]>;
  /** Waits until the text is shown anywhere. */
  shows(text: string | RegExp): Promise<void>;
  /** Everything written to the terminal. */
  readonly written: string;
  hangUp(): void;
}

/**
 * Starts bash with a short prompt; `octant` in it is the command of this checkout. `background` is the reported
 * background colour; without it the terminal does not answer.
 */
export function openTerminal(
  cwd: string,
  env: NodeJS.ProcessEnv,
  columns = 100,
  rows = 30,
  background?: string,
): PtyTerminal {
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
  const pty = spawn("/bin/bash", ["--norc", "--noprofile"], {
    cwd,
    cols: columns,
    rows,
    env: { ...env, PS1: "$ ", TERM: "xterm-256color", OCTANT: `${process.execPath} ${LAUNCHER}` },
  });
  let written = "";
  const exited = new Promise<void>((resolve) => pty.onExit(() => resolve()));
  pty.onData((data) => {
    written += data;
    terminal.write(data);
  });
  // The emulator does not report colours itself.
  terminal.parser.registerOscHandler(11, (data) => {
    if (data === "?" && background) pty.write(`\x1b]11;${background}\x1b\\`);
    return true;
  });
  // The emulator answers terminal queries, such as for the cursor position.
  terminal.onData((data) => pty.write(data));
  const all = async () => {
    await new Promise<void>((resolve) => terminal.write("", resolve));
    const { length } = terminal.buffer.active;
    return Array.from(
      { length },
      (_, i) => terminal.buffer.active.getLine(i)?.translateToString(true).trimEnd() ?? "",
    );
  };
  return {
    pid: pty.pid,
    type: (text) => pty.write(text),
    resize(toColumns, toRows) {
      terminal.resize(toColumns, toRows);
      pty.resize(toColumns, toRows);
    },
    all,
    shows: (text) =>
      vi.waitFor(
        async () => {
          const shown = (await all()).join("\n");
          if (typeof text === "string" ? !shown.includes(text) : !text.test(shown))
            throw new Error(`not shown: ${text}\n${shown}`);
        },
        { timeout: 30_000, interval: 50 },
      ),
    get written() {
      return written;
    },
    hangUp: () => pty.kill("SIGHUP"),
    async [Symbol.asyncDispose]() {
      pty.kill("SIGKILL");
      await exited;
    },
  };
}
