import { setTimeout as delay } from "node:timers/promises";
import { createPoster, headersOf } from "./edges-calls.ts";
import { type EdgesServer, startEdgesServer } from "./edges-server.ts";
import type { Report, Torture } from "./report.ts";

const CLIENTS = 50;
const LINES = 400;
const MAX_TRIES = 60;

/** `count` commands by fifty concurrent clients, in the sandbox: every answer must contain the whole output. */
export const wholeOutput: Torture = async (count, _random, onProgress) => {
  await using server = await startEdgesServer();
  const violations: string[] = [];
  let begun = 0;
  let done = 0;
  let retries = 0;
  const work = async () => {
    const client = openClient(server, () => {
      retries += 1;
    });
    try {
      while (begun < count) {
        const wrong = await runOne(client, begun++);
        if (wrong !== undefined) violations.push(wrong);
        onProgress(++done);
      }
    } finally {
      client.close();
    }
  };
  const start = performance.now();
  await Promise.all(
    Array.from({ length: CLIENTS }, () => work().catch((cause) => violations.push(String(cause)))),
  );
  const seconds = (performance.now() - start) / 1_000;
  return {
    what: `${count} commands by ${CLIENTS} clients at once, every output whole`,
    facts: `${(count / seconds).toFixed(0)} a second, ${retries} answered with OVERLOADED and tried again`,
    violations: violations.slice(0, 20),
  } satisfies Report;
};

type Exec = (command: string) => Promise<Record<string, unknown>>;

async function runOne({ exec }: { readonly exec: Exec }, n: number): Promise<string | undefined> {
  const actual = await exec(`seq ${n} ${n + LINES}; echo ${n} >&2; exit ${n % 3}`);
  const expected = {
    status: "exited",
    exit_code: n % 3,
    stdout: `${Array.from({ length: LINES + 1 }, (_, line) => n + line).join("\n")}\n`,
    stderr: `${n}\n`,
    note: undefined,
  };
  const wrong = Object.entries(expected).find(([name, value]) => actual[name] !== value);
  return wrong && `${n}: ${wrong[0]} is ${JSON.stringify(actual[wrong[0]])?.slice(0, 200)}`;
}

function openClient(server: EdgesServer, onRetry: () => void): { readonly exec: Exec; close(): void } {
  const poster = createPoster(server);
  const headers = { ...headersOf(server.token), "mcp-name": "proc" };
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const post = async (command: string) => {
    const params = { name: "proc", arguments: { action: "exec", command }, _meta };
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    const { body } = await poster.post(JSON.stringify(message), headers);
    const lines = body.split("\n").filter((line) => line.startsWith("data: ") || line.startsWith("{"));
    const answers = lines.map((line) => JSON.parse(line.replace(/^data: /, "")));
    return answers.find(({ id }) => id === 1)?.result.structuredContent;
  };
  return {
    async exec(command) {
      for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
        const { ok, data, error } = (await post(command)) ?? {};
        if (ok) return data;
        if (error?.code !== "OVERLOADED") throw new Error(JSON.stringify(error));
        onRetry();
        await delay(error.details.retry_after_ms);
      }
      throw new Error("OVERLOADED forever");
    },
    close: poster.close,
  };
}
