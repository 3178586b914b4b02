import { openSync } from "node:fs";
import {
  type Ask,
  describeQuestion,
  type FormQuestion,
  fillIn,
  orAborted,
  type PermissionQuestion,
  type QuestionAnswer,
  toExact,
} from "@octant/core";
import { type LineReader, openLineReader, type Terminal } from "./line-reader.ts";

/** Asks the person at the terminal, one question at a time. When the input ends, nobody can be asked. */
export function createTerminalAsk(terminal: Terminal): Ask {
  let last: Promise<unknown> = Promise.resolve();
  return (question, signal) => {
    const before = last;
    const turn = orAborted(before, signal).then(() => askAt(terminal, question, signal));
    last = Promise.allSettled([before, turn]);
    return turn;
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

async function askAt(
  terminal: Terminal,
  ...[question, signal]: Parameters<Ask>
): Promise<QuestionAnswer | undefined> {
  using lines = openLineReader(terminal);
  const read: Read = (text) => orAborted(lines.ask(text), signal);
  lines.say(["", ...describeQuestion(question)].join("\n"));
  if (question.kind === "permission") return await askPermission(question, lines, read);
  if (question.kind === "form") return await askForm(question, read);
  return await askYesOrNo(`${toExact(question.yes)}?`, read);
}

type Read = (text: string) => Promise<string | undefined>;

async function askPermission(
  { always }: PermissionQuestion,
  lines: LineReader,
  read: Read,
): Promise<QuestionAnswer | undefined> {
  if (always) lines.say(always.words.map((line) => `  ${toExact(line)}`).join("\n"));
  const offer = `Allow it? [y] once, [s] this session, ${always ? "[a] always, " : ""}[n] no, or n and a reason: `;
  for (;;) {
    const text = await read(offer);
    if (text === undefined) return undefined;
    const answer = parseAnswer(text, always !== undefined);
    if (answer?.answer === "always" && !isSame(answer, await read(SURE))) continue;
    if (answer) return answer;
  }
}

async function askForm({ schema, url }: FormQuestion, read: Read): Promise<QuestionAnswer | undefined> {
  if (url !== undefined) return askYesOrNo("Have you opened it?", read);
  const content = await fillIn(schema, (label) => read(`${toExact(label)}, or Ctrl-D to decline: `));
  if (!content) return { answer: "decline" };
  const answer = await askYesOrNo("Send it?", read);
  return answer?.answer === "accept" ? { ...answer, content } : answer;
}

async function askYesOrNo(offer: string, read: Read): Promise<QuestionAnswer | undefined> {
  for (;;) {
    const text = await read(`${offer} [y] yes, [n] no: `);
    if (text === undefined) return undefined;
    const answer = parseAnswer(text, false)?.answer;
    if (answer === "once") return { answer: "accept" };
    if (answer === "deny") return { answer: "decline" };
  }
}

const SURE = "This adds the rule above. Type a again to confirm: ";

const isSame = ({ answer }: QuestionAnswer, text: string | undefined): boolean =>
  parseAnswer(text ?? "", true)?.answer === answer;

function parseAnswer(text: string, offersAlways: boolean): QuestionAnswer | undefined {
  const [, word = "", rest = ""] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(text) ?? [];
  if (/^no?[,.:;]?$/i.test(word)) return { answer: "deny", ...(rest !== "" && { reason: rest }) };
  // "yes, but …" is not a yes.
  if (rest !== "") return undefined;
  if (/^y(es)?$/i.test(word)) return { answer: "once" };
  if (/^s(ession)?$/i.test(word)) return { answer: "session" };
  return offersAlways && /^a(lways)?$/i.test(word) ? { answer: "always" } : undefined;
}
