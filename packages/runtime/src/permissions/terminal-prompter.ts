import { openSync } from "node:fs";
import { toExact } from "@octant/core";
import { describeRequest } from "./describe-request.ts";
import { openLineReader, type Terminal } from "./line-reader.ts";
import type { PermissionAnswer, PermissionPrompter, PermissionRequest } from "./prompter.ts";
import { alwaysInWords } from "./rule.ts";

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

async function askAt(terminal: Terminal, request: PermissionRequest): Promise<PermissionAnswer> {
  const { signal, always, question } = request;
  using lines = openLineReader(terminal);
  const read = (text: string) => rejectOnAbort(lines.ask(text), signal);
  lines.say(["", ...describeRequest(request)].join("\n"));
  if (question !== undefined) {
    const text = await read(`${toExact(question)}, or Ctrl-D to decline: `);
    return text === undefined ? { answer: "deny" } : { answer: "once", text };
  }
  if (always)
    lines.say(
      alwaysInWords(always)
        .map((line) => `  ${toExact(line)}`)
        .join("\n"),
    );
  const offer = `Allow it? [y] once, [s] this session, ${always ? "[a] always, " : ""}[n] no, or n and a reason: `;
  for (;;) {
    const text = await read(offer);
    if (text === undefined) return { answer: "unattended" };
    const answer = parseAnswer(text, always !== undefined);
    if (answer?.answer === "always" && !isSame(answer, await read(SURE))) continue;
    if (answer) return answer;
  }
}

const SURE = "This adds the rule above. Type a again to confirm: ";

const isSame = ({ answer }: PermissionAnswer, text: string | undefined): boolean =>
  parseAnswer(text ?? "", true)?.answer === answer;

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
