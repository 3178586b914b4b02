import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { ToolError } from "@octant/core";
import { openInBrowser } from "@octant/host";
import type { Io } from "./command.ts";

/**
 * Asks the person at the terminal, one line at a time without redraws, so that a screen reader can follow.
 */
export interface Questions extends Disposable {
  /** The typed text, or undefined when the person leaves with Ctrl-C or Ctrl-D. */
  ask(question: string, options?: { readonly hidden?: boolean }): Promise<string | undefined>;
  say(text: string): void;
}

export function openQuestions({
  stdin,
  stdout,
}: {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
}): Questions {
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

/** Asks one question on stderr; empty when the person leaves. */
export async function ask(
  question: string,
  { stdin, stderr }: Io,
  options?: { hidden: boolean },
): Promise<string> {
  using questions = openQuestions({ stdin, stdout: stderr });
  return (await questions.ask(question, options)) ?? "";
}

export const isYes = (answer: string): boolean => /^y(es)?$/i.test(answer);

export const confirm = async (question: string, io: Io): Promise<boolean> =>
  isYes(await ask(`${question} [y/N] `, io));

const MAX_SECRET_CHARS = 16_384;

/** Whether a text can be a key: one non-empty word. */
export const isSecret = (text: string): boolean =>
  text !== "" && text.length <= MAX_SECRET_CHARS && !/[\s\p{Cc}]/u.test(text);

/** Reads one line from the terminal without echo, or from stdin. */
export async function readSecret(question: string, io: Io): Promise<string> {
  const secret = io.stdin.isTTY ? await ask(question, io, { hidden: true }) : await readLine(io);
  if (isSecret(secret)) return secret;
  throw new ToolError("INVALID_ARGUMENT", "expected a key on one line; nothing was changed", {
    issues: [{ path: "key", message: "expected one line without spaces" }],
  });
}

async function readLine({ stdin }: Io): Promise<string> {
  for await (const line of createInterface({ input: stdin })) return line.trim();
  return "";
}

/** Shows an address to the person: always as text, and in their browser when there is a desktop. */
export function showAddress(url: string, io: Io): void {
  io.stderr.write(`Open this address in a browser on this machine:\n  ${url}\n`);
  // Without a desktop the text is enough.
  openInBrowser(new URL(url), io.env, new AbortController().signal).catch(() => {});
}
