import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { vi } from "vitest";
import { LAUNCHER } from "./published-command.ts";

/** A person's terminal in tmux, which sends its own key codes and has its own way of resizing. */
export function openTmux(cwd: string, env: NodeJS.ProcessEnv, columns = 100, rows = 30) {
  const socket = `octant-${randomUUID()}`;
  const tmux = (...args: string[]) =>
    execFileSync("tmux", ["-L", socket, "-f", "/dev/null", ...args], {
      cwd,
      encoding: "utf8",
      env: { ...env, PS1: "$ ", TERM: "xterm-256color", OCTANT: `${process.execPath} ${LAUNCHER}` },
    });
  const size = ["-x", String(columns), "-y", String(rows)];
  tmux("new-session", "-d", ...size, "/bin/bash --norc --noprofile");
  tmux("set", "-g", "prefix", "None");
  tmux("set", "-g", "history-limit", "20000");
  tmux("set", "-g", "window-size", "manual");
  const capture = (...args: string[]) =>
    tmux("capture-pane", "-p", ...args)
      .split("\n")
      .map((row) => row.trimEnd());
  const waitFor = (text: string | RegExp, read: () => readonly string[]) =>
    vi.waitFor(
      () => {
        const shown = read().join("\n");
        if (typeof text === "string" ? !shown.includes(text) : !text.test(shown))
          throw new Error(`not shown: ${text}\n${shown}`);
      },
      { timeout: 30_000, interval: 50 },
    );
  return {
    /** Types text as it is. */
    type: (text: string) => void tmux("send-keys", "-l", text),
    /** Pastes text as a terminal does. */
    paste: (text: string) => {
      tmux("set-buffer", text);
      tmux("paste-buffer", "-p");
    },
    /** Pastes text as a terminal does that does not mark what is pasted. */
    pasteUnmarked: (text: string) => {
      tmux("set-buffer", text);
      tmux("paste-buffer");
    },
    /** Presses keys by tmux's names, such as Enter, Home, C-j. */
    press: (...keys: string[]) => void tmux("send-keys", ...keys),
    resize: (toColumns: number, toRows: number) =>
      void tmux("resize-window", "-x", String(toColumns), "-y", String(toRows)),
    screen: () => capture(),
    all: () => capture("-S", "-"),
    /** Waits until the screen shows it. */
    shows: (text: string | RegExp) => waitFor(text, () => capture()),
    /** Waits until the screen or the scrollback has it. */
    has: (text: string | RegExp) => waitFor(text, () => capture("-S", "-")),
    /** Forgets the scrollback, so that later waits see only what is new. */
    forget: () => void tmux("clear-history"),
    clipboard: () => tmux("show-buffer"),
    [Symbol.dispose]: () => {
      tmux("kill-server");
    },
  };
}

export type Tmux = ReturnType<typeof openTmux>;
