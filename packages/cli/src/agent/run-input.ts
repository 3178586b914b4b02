import { createInterface } from "node:readline";
import type { Agent } from "@octant/agent";
import { RunInput } from "@octant/app";
import type { Io } from "../command.ts";

/** Reads `octant run --input-json`: one JSON object per line on stdin. */
export function readRunInput({ stdin }: Pick<Io, "stdin">, onInvalid: (message: string) => void) {
  const messages: string[] = [];
  let agent: Agent | undefined;
  let hasEnded = false;
  let changed = Promise.withResolvers<void>();
  const notify = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const take = (input: RunInput) => {
    if (input.type === "interrupt") void agent?.cancel();
    else if (input.type === "message" && agent?.isRunning) agent.queue(input.text);
    else if (input.type === "message") messages.push(input.text);
    notify();
  };
  createInterface({ input: stdin })
    .on("line", (line) => {
      const input = line.trim() === "" ? undefined : parseInput(line);
      if (input?.data) take(input.data);
      else if (input)
        onInvalid(
          input.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`.trim()).join("; "),
        );
    })
    .on("close", () => {
      hasEnded = true;
      notify();
    });
  return {
    /** Messages that arrive while the agent works are queued with it. */
    attach(opened: Agent): void {
      agent = opened;
    },
    /** The messages that start a run, until stdin ends. */
    async *messages(): AsyncGenerator<string> {
      for (;;) {
        const next = messages.shift();
        if (next !== undefined) yield next;
        else if (hasEnded) return;
        else await changed.promise;
      }
    },
  };
}

function parseInput(line: string) {
  try {
    return RunInput.safeParse(JSON.parse(line));
  } catch {
    return RunInput.safeParse(line);
  }
}
