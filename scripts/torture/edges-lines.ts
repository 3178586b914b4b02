import { once } from "node:events";
import { createInterface } from "node:readline";
import { broken, MAX_GROWN_BYTES, MAX_NEXT_CALL_MS, WARM_UP_SHARE } from "./edges-broken.ts";
import { readMessage, textOf } from "./edges-calls.ts";
import { markedFile, type ServerProcess, startServer } from "./edges-server.ts";
import type { Report, Torture } from "./report.ts";

const WHAT = "broken lines on stdin";
/** Its answer comes after all earlier messages were handled. */
const FIRST_ID = 1_000_000;

/** `count` broken lines: the server must survive and not grow. */
export const edgesLines: Torture = (count, random, onProgress) => brokenLines(count, random, onProgress);

export async function brokenLines(
  count: number,
  random: () => number,
  onProgress: (done: number) => void = () => {},
): Promise<Report> {
  await using server = startServer();
  const client = createLineClient(server);
  const sendMany = async (lines: number, onSent: (sent: number) => void = () => {}) => {
    for (let sent = 1; sent <= lines; sent++) {
      await client.say(broken(random));
      onSent(sent);
    }
  };
  const violations: string[] = [];
  await client.read();
  await sendMany(Math.ceil(count * WARM_UP_SHARE));
  const before = server.residentBytes();
  await sendMany(count, onProgress);
  const grown = server.residentBytes() - before;
  const ms = await client.read();
  if (grown > MAX_GROWN_BYTES) violations.push(`grew by ${grown} bytes`);
  if (ms > MAX_NEXT_CALL_MS) violations.push(`the next call took ${ms} ms`);
  if (/unhandled|uncaught/i.test(server.errors())) violations.push(server.errors());
  const facts = `${count} lines, RSS ${(grown / 1e6).toFixed(1)} MB, next call ${ms.toFixed(0)} ms`;
  return { what: WHAT, facts, violations };
}

function createLineClient({ child, errors }: ServerProcess) {
  const waiting = new Map<number, (line: string) => void>();
  const ended = once(child, "exit").then(() => Promise.reject(new Error(`the server ended: ${errors()}`)));
  createInterface({ input: child.stdout }).on("line", (line) => waiting.get(JSON.parse(line).id)?.(line));
  let nextId = FIRST_ID;
  const ask = async (): Promise<string> => {
    const id = nextId++;
    const { promise, resolve } = Promise.withResolvers<string>();
    waiting.set(id, resolve);
    child.stdin.write(`${JSON.stringify(readMessage(id, markedFile(1).uri))}\n`);
    const line = await Promise.race([promise, ended]);
    waiting.delete(id);
    return line;
  };
  return {
    /** Sends the line, and waits until it was handled. */
    async say(line: Buffer) {
      child.stdin.write(Buffer.concat([line, Buffer.from("\n")]));
      await ask();
    },
    /** The current duration of a call. */
    async read(): Promise<number> {
      const start = performance.now();
      const answer = await ask();
      const ms = performance.now() - start;
      if (textOf(answer) !== markedFile(1).text) throw new Error(`another answer: ${answer}`);
      return ms;
    },
  };
}
