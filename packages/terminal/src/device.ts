import { setTimeout as delay } from "node:timers/promises";
// The index lacks decodePrintableKey, and its Markdown and pictures would cost each start 55 ms and 17 MB. The version is exact.
import { decodePrintableKey, isKeyRelease, parseKey } from "@earendil-works/pi-tui/dist/keys.js";
import { ProcessTerminal } from "@earendil-works/pi-tui/dist/terminal.js";
import { ASK_BACKGROUND, BackgroundReply } from "./background-query.ts";
import type { Background } from "./paint.ts";

/** The only file that uses pi-tui, for raw mode, key protocols and bracketed paste. */

export type TerminalInput =
  | { kind: "key"; key: string }
  | { kind: "paste"; text: string }
  /** The terminal's window got or lost the focus. */
  | { kind: "focus"; isFocused: boolean };

/** A terminal with a person at it. Tests have their own. */
export interface Device {
  readonly columns: number;
  readonly rows: number;
  start(onInput: (input: TerminalInput) => void, onResize: () => void): void;
  write(data: string): void;
  /**
   * Queries the background of the started terminal. Resolves with the answer or after a short wait; the answer may be
   * late.
   */
  askBackground?(onAnswer: (background: Background) => void): Promise<void>;
  /** Stops the process until the shell continues it; without it Ctrl-Z undoes. */
  pause?(): Promise<void>;
  /** Restores the terminal's modes. */
  stop(): Promise<void>;
}

/** How long the first frame waits for the answer. */
const ANSWER_MS = 100;
/** A late answer is still not taken for typing. */
const LATE_ANSWER_MS = 2_000;

export function processDevice(): Device {
  const terminal = new ProcessTerminal();
  let answered: (background: Background) => void = () => {};
  const reply = new BackgroundReply((background) => answered(background));
  let onKey: (data: string) => void = () => {};
  let release: NodeJS.Timeout | undefined;
  const take = (data: string) => {
    clearTimeout(release);
    for (const piece of reply.feed(data)) onKey(piece);
    release = setTimeout(() => reply.release().forEach(onKey), ANSWER_MS);
  };
  /** Input that arrived in one turn of the event loop. */
  let arrived: string[] = [];
  let pastedAt = Number.NEGATIVE_INFINITY;
  const receive = (data: string) => {
    arrived.push(data);
    if (arrived.length > 1) return;
    queueMicrotask(() => {
      const pieces = arrived;
      arrived = [];
      const now = performance.now();
      if (!isUnmarkedPaste(pieces, now - pastedAt < PASTE_GAP_MS)) return pieces.forEach(take);
      pastedAt = now;
      take(`\x1b[200~${pieces.join("")}\x1b[201~`);
    });
  };
  return {
    get columns() {
      return terminal.columns;
    },
    get rows() {
      return terminal.rows;
    },
    start(onInput, onResize) {
      onKey = (data) => {
        for (const one of data === ESCAPED_TWICE ? ["\x1b", "\x1b"] : [data]) {
          const input = toInput(one);
          if (input) onInput(input);
        }
      };
      terminal.start(receive, onResize);
      terminal.write(REPORT_FOCUS);
    },
    write: (data) => terminal.write(data),
    askBackground: (onAnswer) =>
      new Promise((resolve) => {
        reply.isAwaited = true;
        answered = (background) => {
          onAnswer(background);
          resolve();
        };
        terminal.write(ASK_BACKGROUND);
        setTimeout(resolve, ANSWER_MS);
        setTimeout(() => {
          reply.isAwaited = false;
        }, LATE_ANSWER_MS).unref();
      }),
    ...(process.platform !== "win32" && { pause }),
    async stop() {
      clearTimeout(release);
      terminal.write(STOP_REPORTING_FOCUS);
      await terminal.drainInput(200, 20);
      terminal.stop();
    },
  };
}

/** Stops the whole process group, so that the shell sees its job stopped. A shell without job control ignores it. */
async function pause(): Promise<void> {
  process.kill(0, "SIGTSTP");
  // The timer runs on when the process is continued.
  await delay(STOPPED_MS);
}

const STOPPED_MS = 50;

const MIN_PASTED_LINES = 3;
/** Between two parts of a paste. */
const PASTE_GAP_MS = 100;

/**
 * Whether keys that arrived at once are pasted lines in a terminal that does not mark pastes, such as GNU screen:
 * nobody types three lines in that time. `continuesPaste`: a part of a paste has just arrived.
 */
export function isUnmarkedPaste(pieces: readonly string[], goesOn: boolean): boolean {
  const text = pieces.join("");
  if (text.includes("\x1b")) return false;
  const lines = text.split(/[\r\n]/);
  if (lines.every((line) => line === "")) return false;
  return goesOn || lines.length > MIN_PASTED_LINES;
}

/** Two presses in quick succession arrive together. */
const ESCAPED_TWICE = "\x1b\x1b";
const REPORT_FOCUS = "\x1b[?1004h";
const STOP_REPORTING_FOCUS = "\x1b[?1004l";
const FOCUS = /^\x1b\[([IO])$/;

const PASTE = /^\x1b\[200~([\s\S]*)\x1b\[201~$/;

/** Key names as used by the editor: a typed character, or "Enter", "Ctrl-C", "Alt-B", "Shift-Tab", "Up". */
export function toInput(data: string): TerminalInput | undefined {
  const pasted = PASTE.exec(data)?.[1];
  if (pasted !== undefined) return { kind: "paste", text: pasted.replace(/\r\n?/g, "\n") };
  const [, focus] = FOCUS.exec(data) ?? [];
  if (focus !== undefined) return { kind: "focus", isFocused: focus === "I" };
  if (isKeyRelease(data)) return undefined;
  const printable = decodePrintableKey(data) ?? (/^[^\x00-\x1f\x7f]+$/.test(data) ? data : undefined);
  if (printable !== undefined) return { kind: "key", key: printable };
  const [, character = ""] = ALT.exec(data) ?? [];
  if (character !== "") return { kind: "key", key: toAlt(character) };
  const named = SENT_BY_TMUX[data];
  if (named !== undefined) return { kind: "key", key: named };
  const id = parseKey(data);
  return id === undefined || id === "" ? undefined : { kind: "key", key: toName(id) };
}

/** Escape before a character: parseKey would take some of them for arrows. */
const ALT = /^\x1b([^\x00-\x1f\x7f[O])$/u;

const toAlt = (character: string): string => {
  const isUpper = character !== character.toLowerCase();
  return `Alt-${isUpper ? "Shift-" : ""}${character.toUpperCase()}`;
};

/** Also by the Linux console and PuTTY. parseKey does not know them, or takes a line feed for Enter. */
const SENT_BY_TMUX: Readonly<Record<string, string>> = {
  "\n": "Ctrl-J",
  "\x1b[1~": "Home",
  "\x1b[4~": "End",
  "\x1b[7~": "Home",
  "\x1b[8~": "End",
};

const NAMES: Readonly<Record<string, string>> = { esc: "Escape", return: "Enter", space: " " };

function toName(id: string): string {
  const parts = id.split("+");
  const base = parts.pop() ?? "";
  const capitalised = base.slice(0, 1).toUpperCase() + base.slice(1);
  const name = NAMES[base] ?? (base.length > 1 || parts.length > 0 ? capitalised : base);
  const order = ["ctrl", "alt", "shift", "super"];
  const modifiers = order
    .filter((one) => parts.includes(one))
    .map((one) => one[0]?.toUpperCase() + one.slice(1));
  return [...modifiers, name].join("-");
}
