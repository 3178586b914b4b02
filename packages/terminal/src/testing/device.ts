import xterm, { type Terminal } from "@xterm/headless";
import type { Device, TerminalInput } from "../device.ts";

/** A terminal emulator behind the screen: shows what a person would see, including the scrollback. */
export interface TestDevice extends Device {
  type(...keys: string[]): void;
  paste(text: string): void;
  resize(columns: number, rows: number): Promise<void>;
  /** All bytes written so far. */
  readonly written: string;
  /** The visible rows, without trailing spaces. */
  screen(): Promise<string[]>;
  /** Scrollback and screen together. */
  all(): Promise<string[]>;
  readonly terminal: Terminal;
}

export function createTestDevice(columns = 80, rows = 24): TestDevice {
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
  let written = "";
  let input: (input: TerminalInput) => void = () => {};
  let resized: () => void = () => {};
  const settled = () => new Promise<void>((resolve) => terminal.write("", resolve));
  const lines = (from: number, to: number) =>
    Array.from(
      { length: to - from },
      (_, i) => terminal.buffer.active.getLine(from + i)?.translateToString(true) ?? "",
    );
  return {
    get columns() {
      return terminal.cols;
    },
    get rows() {
      return terminal.rows;
    },
    start(onInput, onResize) {
      input = onInput;
      resized = onResize;
    },
    write(data) {
      written += data;
      terminal.write(data);
    },
    stop: async () => {},
    type(...keys) {
      for (const key of keys) input({ kind: "key", key });
    },
    paste: (text) => input({ kind: "paste", text }),
    async resize(toColumns, toRows) {
      await settled();
      terminal.resize(toColumns, toRows);
      resized();
      await settled();
    },
    get written() {
      return written;
    },
    async screen() {
      await settled();
      const { baseY } = terminal.buffer.active;
      return lines(baseY, baseY + terminal.rows);
    },
    async all() {
      await settled();
      return lines(0, terminal.buffer.active.length);
    },
    terminal,
  };
}
