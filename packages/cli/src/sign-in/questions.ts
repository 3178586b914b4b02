import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { Io } from "../command.ts";

/**
 * Asks the person at the terminal, one line at a time without redraws, so that a screen reader can follow.
 */
export interface Questions extends Disposable {
  /** The typed text, or undefined when the person leaves with Ctrl-C or Ctrl-D. */
  ask(question: string, options?: { readonly hidden?: boolean }): Promise<string | undefined>;
  say(text: string): void;
}

export function openQuestions({ stdin, stdout }: Pick<Io, "stdin" | "stdout">): Questions {
  let isHidden = false;
  const echo = new Writable({
    write(chunk, _encoding, done) {
      if (!isHidden) stdout.write(chunk);
      done();
    },
  });
  const typed: string[] = [];
  let isOpen = true;
  let wake = () => {};
  const lines = createInterface({ input: stdin, output: echo, terminal: true, historySize: 0 });
  lines.on("line", (line) => {
    typed.push(line);
    wake();
  });
  lines.on("close", () => {
    isOpen = false;
    wake();
  });
  return {
    async ask(question, { hidden = false } = {}) {
      isHidden = hidden;
      if (hidden) stdout.write(question);
      lines.setPrompt(hidden ? "" : question);
      if (isOpen) lines.prompt();
      while (typed.length === 0 && isOpen) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      isHidden = false;
      const line = typed.shift();
      if (hidden || line === undefined) stdout.write("\n");
      return line?.trim();
    },
    say: (text) => void stdout.write(`${text}\n`),
    [Symbol.dispose]: () => lines.close(),
  };
}
