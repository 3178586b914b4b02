import type { Readable, Writable } from "node:stream";
import { type Clock, toVisible } from "@octant/core";
import { systemClock } from "@octant/host";

export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
}

/** A question takes no key before the keyboard has been quiet for so long: the person was typing something else. */
export const QUIET_MS = 500;

/** Asks for lines, without redraws, so that a screen reader can follow. */
export interface LineReader extends Disposable {
  /** The typed line; undefined when the person leaves with Ctrl-C or Ctrl-D, or the input has ended. */
  ask(question: string, options?: { readonly hidden?: boolean }): Promise<string | undefined>;
  /** Writes a line. */
  say(text: string): void;
}

/** On a terminal, input typed before a question is dropped, and pasted input answers only a hidden one. */
export function openLineReader({ input, output }: Terminal, clock: Clock = systemClock): LineReader {
  const terminal = "isTTY" in output && output.isTTY === true;
  let isMuted = false;
  let isHidden = false;
  let isPasting = false;
  let isOpen = true;
  let wake = () => {};
  const typed: string[] = [];
  const echo = new (process.getBuiltinModule("node:stream").Writable)({
    write(chunk, _encoding, done) {
      if (!isMuted) output.write(chunk);
      done();
    },
  });
  const { createInterface } = process.getBuiltinModule("node:readline");
  const lines = createInterface({ input, output: echo, terminal, historySize: 0 });
  lines.on("line", (line) => {
    if (!isPasting || isHidden) typed.push(line);
    wake();
  });
  lines.on("close", () => {
    isOpen = false;
    wake();
  });
  const dropTyped = () => {
    typed.length = 0;
    const wasMuted = isMuted;
    isMuted = true;
    lines.write(null, { ctrl: true, name: "u" });
    isMuted = wasMuted;
  };
  const onKey = (_text: string, key?: { readonly name?: string }) => {
    if (key?.name === "paste-start") isPasting = true;
    if (key?.name !== "paste-end") return;
    isPasting = false;
    if (isHidden) return;
    dropTyped();
    lines.prompt();
  };
  if (terminal) input.on("keypress", onKey);
  const untilQuiet = async () => {
    for (let isQuiet = false; !isQuiet && isOpen; ) {
      const key = new AbortController();
      const stop = () => key.abort();
      input.once("keypress", stop);
      lines.once("close", stop);
      await clock.sleep(QUIET_MS, key.signal);
      input.off("keypress", stop);
      lines.off("close", stop);
      isQuiet = !key.signal.aborted;
    }
  };
  return {
    async ask(question, { hidden = false } = {}) {
      isMuted = true;
      if (terminal) await untilQuiet();
      if (terminal && isOpen) dropTyped();
      isHidden = hidden;
      isMuted = hidden;
      if (terminal && !hidden) output.write(PASTE_ON);
      // Redraws go back over all lines of a prompt, so it has only one.
      const [prompt = "", ...above] = toVisible(question).split("\n").reverse();
      for (const line of above.reverse()) output.write(`${line}\n`);
      if (hidden) output.write(prompt);
      lines.setPrompt(hidden ? "" : prompt);
      if (isOpen) lines.prompt();
      while (typed.length === 0 && isOpen)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      isMuted = false;
      const line = typed.shift();
      if (hidden || line === undefined) output.write("\n");
      return line?.trim();
    },
    say: (text) => void output.write(`${toVisible(text)}\n`),
    [Symbol.dispose]() {
      input.off("keypress", onKey);
      if (terminal) output.write(PASTE_OFF);
      lines.close();
    },
  };
}

const PASTE_ON = "\x1b[?2004h";
const PASTE_OFF = "\x1b[?2004l";
