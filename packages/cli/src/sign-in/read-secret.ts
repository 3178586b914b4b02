import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { ToolError } from "@octant/core";
import type { Io } from "../command.ts";

const MAX_SECRET_CHARS = 16_384;

/** Whether a text can be a key: one non-empty word. */
export const isSecret = (text: string): boolean =>
  text !== "" && text.length <= MAX_SECRET_CHARS && !/[\s\p{Cc}]/u.test(text);

/** Reads one line from the terminal without echo, or from stdin. */
export async function readSecret(question: string, io: Io): Promise<string> {
  const isTerminal = io.stdin.isTTY === true;
  if (isTerminal) io.stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: io.stdin, output: nowhere, terminal: isTerminal });
  try {
    for await (const line of lines) {
      const secret = line.trim();
      if (isSecret(secret)) return secret;
      break;
    }
  } finally {
    lines.close();
    if (isTerminal) io.stderr.write("\n");
  }
  throw new ToolError("INVALID_ARGUMENT", "expected a key on one line; nothing was changed", {
    issues: [{ path: "key", message: "expected one line without spaces" }],
  });
}
