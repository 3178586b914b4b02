import { decodePrintableKey, isKeyRelease, parseKey } from "@earendil-works/pi-tui/dist/keys.js";
import { ProcessTerminal } from "@earendil-works/pi-tui/dist/terminal.js";

/** The only file that knows pi-tui: raw mode, key protocols and bracketed paste come from there. */

export type TerminalInput = { kind: "key"; key: string } | { kind: "paste"; text: string };

/** A terminal that a person sits at. Tests have one of their own. */
export interface Device {
  readonly columns: number;
  readonly rows: number;
  start(onInput: (input: TerminalInput) => void, onResize: () => void): void;
  write(data: string): void;
  /** Restores the terminal's own modes. */
  stop(): Promise<void>;
}

export function processDevice(): Device {
  const terminal = new ProcessTerminal();
  return {
    get columns() {
      return terminal.columns;
    },
    get rows() {
      return terminal.rows;
    },
    start(onInput, onResize) {
      terminal.start((data) => {
        const input = toInput(data);
        if (input) onInput(input);
      }, onResize);
    },
    write: (data) => terminal.write(data),
    async stop() {
      await terminal.drainInput(200, 20);
      terminal.stop();
    },
  };
}

const PASTE = /^\x1b\[200~([\s\S]*)\x1b\[201~$/;

/** Names of keys as the editor uses them: a typed character, or "Enter", "Ctrl-C", "Alt-B", "Shift-Tab", "Up". */
export function toInput(data: string): TerminalInput | undefined {
  const pasted = PASTE.exec(data)?.[1];
  if (pasted !== undefined) return { kind: "paste", text: pasted.replace(/\r\n?/g, "\n") };
  if (isKeyRelease(data)) return undefined;
  const printable = decodePrintableKey(data) ?? (/^[^\x00-\x1f\x7f]+$/.test(data) ? data : undefined);
  if (printable !== undefined) return { kind: "key", key: printable };
  const id = parseKey(data);
  return id === undefined ? undefined : { kind: "key", key: toName(id) };
}

const NAMES: Readonly<Record<string, string>> = {
  escape: "Escape",
  esc: "Escape",
  enter: "Enter",
  return: "Enter",
  tab: "Tab",
  space: " ",
  backspace: "Backspace",
  delete: "Delete",
  home: "Home",
  end: "End",
  pageUp: "PageUp",
  pageDown: "PageDown",
  up: "Up",
  down: "Down",
  left: "Left",
  right: "Right",
};

function toName(id: string): string {
  const parts = id.split("+");
  const base = parts.pop() ?? "";
  const name = NAMES[base] ?? (base.length === 1 && parts.length > 0 ? base.toUpperCase() : base);
  const order = ["ctrl", "alt", "shift", "super"];
  const modifiers = order
    .filter((one) => parts.includes(one))
    .map((one) => one[0]?.toUpperCase() + one.slice(1));
  return [...modifiers, name].join("-");
}
