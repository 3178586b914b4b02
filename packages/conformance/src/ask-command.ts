import { once } from "node:events";
import { PassThrough } from "node:stream";
import { ToolError } from "@octant/core";
import { readLines, startLaunched } from "@octant/host";
import type { VectorCase } from "./load-vectors.ts";

const MAX_ANSWER_MS = 30_000;
const SHOWN_CHARS = 400;

/** Starts a command of the person's, as their shell would: one JSON object per line in, one per line out. */
export function startImplementation(command: string, { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv }) {
  const child = startLaunched(command, [], { cwd, env, shell: true, stdio: ["pipe", "pipe", "pipe"] });
  let stderrTail = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderrTail = (stderrTail + text).slice(-SHOWN_CHARS);
  });
  // The exit event reports a command that has gone.
  child.stdin.on("error", () => {});
  const answers = new PassThrough({ objectMode: true });
  readLines(
    child.stdout,
    (line) => answers.write(line),
    () => answers.end(),
  );
  const lines: AsyncIterator<string, undefined> = answers[Symbol.asyncIterator]();
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
    child.once("error", () => resolve());
  });
  return {
    async ask({ id, domain, input }: VectorCase): Promise<unknown> {
      child.stdin.write(`${JSON.stringify({ id, domain, input })}\n`);
      const late = once(AbortSignal.timeout(MAX_ANSWER_MS), "abort").then(() => {
        throw new ToolError("TIMEOUT", `the command did not answer ${id} in time`, {
          after_ms: MAX_ANSWER_MS,
        });
      });
      const { value, done } = await Promise.race([lines.next(), late]);
      if (done) {
        await ended;
        throw new ToolError(
          "EXEC_FAILED",
          `the command ended before it answered ${id}: ${stderrTail.trim()}`,
          { program: command },
        );
      }
      return parseReply(value, id);
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), MAX_ENDING_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

const MAX_ENDING_MS = 2_000;

function parseReply(line: string, id: string): unknown {
  const invalid = (why: string) =>
    new ToolError(
      "UPSTREAM_ERROR",
      `the command answered ${id} with ${why}: ${line.slice(0, SHOWN_CHARS)}`,
      {},
    );
  let reply: unknown;
  try {
    reply = JSON.parse(line);
  } catch {
    throw invalid("a line that is not JSON");
  }
  const { id: answered, output } = Object(reply);
  if (answered !== id) throw invalid("another id");
  if (output === undefined) throw invalid("no output");
  return output;
}
