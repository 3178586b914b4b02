import { createInterface } from "node:readline";
import { ToolError, toOneLine } from "@octant/core";
import { openInBrowser } from "@octant/host";
import { openLineReader } from "@octant/runtime";
import type { Io } from "./command.ts";
import { note } from "./output.ts";

/** Asks one question on stderr; empty when the person leaves. */
export async function ask(
  question: string,
  { stdin, stderr }: Io,
  options?: { hidden: boolean },
): Promise<string> {
  using questions = openLineReader({ input: stdin, output: stderr });
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
  note(`Open this address in a browser on this machine:\n  ${toOneLine(url)}`, io);
  // Without a desktop the text is enough.
  openInBrowser(new URL(url), io.env, new AbortController().signal).catch(() => {});
}
