import { openSync } from "node:fs";
import type { Interface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import { toVisible } from "../config/visible.ts";
import { describeRequest } from "./describe-request.ts";
import type { PermissionAnswer, PermissionPrompter, PermissionRequest } from "./prompter.ts";
import { alwaysInWords } from "./rule.ts";

export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
}

/** Asks the person at the terminal, one question at a time. When the input ends, it becomes unattended. */
export function createTerminalPrompter(terminal: Terminal): PermissionPrompter {
  let last: Promise<unknown> = Promise.resolve();
  return {
    reads: "text",
    requestPermission(request) {
      const before = last;
      const turn = rejectOnAbort(before, request.signal).then(() =>
        request.isCovered() ? ({ answer: "once" } as const) : askAt(terminal, request),
      );
      last = Promise.allSettled([before, turn]);
      return turn;
    },
  };
}

/** The terminal that the process was started from, also where stdin and stdout carry a protocol; undefined without one. */
export function openTerminal(): (Terminal & Disposable) | undefined {
  // Loaded here: a server that asks through its client does without.
  const { ReadStream, WriteStream } = process.getBuiltinModule("node:tty");
  try {
    const input = new ReadStream(openSync("/dev/tty", "r"));
    const output = new WriteStream(openSync("/dev/tty", "w"));
    const close = () => {
      input.destroy();
      output.destroy();
    };
    return { input, output, [Symbol.dispose]: close };
  } catch {
    return undefined;
  }
}

async function askAt({ input, output }: Terminal, request: PermissionRequest): Promise<PermissionAnswer> {
  const { signal, always, question: asked } = request;
  const { createInterface } = process.getBuiltinModule("node:readline/promises");
  const lines = createInterface({ input, output, terminal: "isTTY" in output && output.isTTY === true });
  const ended = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  const read = (question: string) =>
    rejectOnAbort(Promise.race([readAnswer(lines, question), ended]), signal);
  try {
    output.write(`\n${describeRequest(request).join("\n")}\n`);
    if (asked !== undefined) {
      const text = await read(`${toVisible(asked)}, or Ctrl-D to decline: `);
      return text === undefined ? { answer: "deny" } : { answer: "once", text };
    }
    if (always)
      output.write(
        alwaysInWords(always)
          .map((line) => `  ${toVisible(line)}\n`)
          .join(""),
      );
    const question = `Allow it? [y] once, [s] this session, ${always ? "[a] always, " : ""}[n] no, or n and a reason: `;
    for (;;) {
      const text = await read(question);
      if (text === undefined) return { answer: "unattended" };
      const answer = parseAnswer(text, always !== undefined);
      if (answer) return answer;
    }
  } finally {
    lines.close();
  }
}

/** A question that is still open when the input ends is settled by that end, not by an error. */
const readAnswer = (lines: Interface, question: string): Promise<string | undefined> =>
  lines.question(question).catch(() => undefined);

function parseAnswer(text: string, offersAlways: boolean): PermissionAnswer | undefined {
  const [, word = "", rest = ""] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(text) ?? [];
  if (/^no?[,.:;]?$/i.test(word)) return { answer: "deny", ...(rest !== "" && { reason: rest }) };
  // "yes, but …" is not a yes.
  if (rest !== "") return undefined;
  if (/^y(es)?$/i.test(word)) return { answer: "once" };
  if (/^s(ession)?$/i.test(word)) return { answer: "session" };
  return offersAlways && /^a(lways)?$/i.test(word) ? { answer: "always" } : undefined;
}

function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const stop = () => reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  work.then(resolve, reject);
  return promise.finally(() => signal.removeEventListener("abort", stop));
}
