import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EventStore, readLogFile, Session } from "@octant/agent";
import { createAgentBench, readingScript, writeReadFile } from "../agent-start.ts";
import type { Case } from "../case.ts";
import { timed, toSpread } from "../measure.ts";
import { atMost, type Row } from "../row.ts";

const STARTS = 7;
const REPLAYS = 3;
const EVENTS = 100_000;
const FIRST_BYTE_MS = 400;
const FIRST_REQUEST_KB = 20;
const REPLAY_MS = 1_000;
const LOOP_CALLS = 60;
/** The first call loads the tools. */
const LOOP_WARM_UP = 10;
const LOOP_MS = 5;

/** The agent without its model: our part of every run. */
export const agent: readonly Case[] = [
  { name: "agent: first byte", run: firstByte },
  { name: "agent: first request", run: firstRequest },
  { name: "agent: tool loop", run: toolLoop },
  { name: "agent: replay", run: replay },
];

/** Between two requests of one run: a call of `fs.read`, and the request that carries its result. */
async function toolLoop(): Promise<Row> {
  let answered: number | undefined;
  await using bench = await createAgentBench(readingScript(LOOP_CALLS), () => {
    answered = performance.now();
  });
  writeReadFile(bench.project);
  const samples: number[] = [];
  await bench.run(["read it"], () => {
    if (answered !== undefined) samples.push(performance.now() - answered);
  });
  const octant = toSpread(samples.slice(LOOP_WARM_UP));
  return {
    name: "agent: tool loop",
    unit: "ms",
    octant,
    figure: octant.p50,
    bar: atMost(LOOP_MS),
    note: "a model's last byte to the next request at the provider, which takes its JSON apart first",
  };
}

/** From the start of `octant run` until the provider has the request. */
async function firstByte(): Promise<Row> {
  await using bench = await createAgentBench(() => ({ parts: [{ text: "Hello." }] }));
  await bench.run(["hello"]);
  const samples: number[] = [];
  for (let at = 0; at < STARTS; at++) samples.push(await bench.run(["hello"]));
  const octant = toSpread(samples);
  return {
    name: "agent: first byte",
    unit: "ms",
    octant,
    figure: octant.p50,
    bar: atMost(FIRST_BYTE_MS),
    note: "spawn of octant run to the request at the provider, compile cache warm",
  };
}

/** The first request to the model. */
async function firstRequest(): Promise<Row> {
  await using bench = await createAgentBench(() => ({ parts: [{ text: "Hello." }] }));
  let bytes = 0;
  await bench.run(["hello"], ({ raw }) => {
    bytes = Buffer.byteLength(raw);
  });
  const octant = toSpread([bytes / 1000]);
  return {
    name: "agent: first request",
    unit: "kB",
    octant,
    figure: octant.p50,
    bar: atMost(FIRST_REQUEST_KB),
    note: "the body of the first request, with all tools; `agent: peers` has those of other agents",
  };
}

/** A log of a long session, read into a conversation. */
async function replay(): Promise<Row> {
  using folder = createFolder();
  const file = join(folder.path, "log.jsonl");
  await writeLog(file);
  const samples: number[] = [];
  for (let at = 0; at < REPLAYS; at++)
    samples.push(await timed(() => new Session({ id: "ses_1", events: readLogFile(file) })));
  const octant = toSpread(samples);
  const note = `${EVENTS} events of a session, from the disk to the conversation`;
  return { name: "agent: replay", unit: "ms", octant, figure: octant.p50, bar: atMost(REPLAY_MS), note };
}

/** Four events per call, as the loop writes them, without waiting for the disk each time. */
async function writeLog(file: string): Promise<void> {
  const lines: string[] = [];
  const store: EventStore = {
    append: async (event) => void lines.push(JSON.stringify(event)),
    close: async () => {},
  };
  const session = new Session({ id: "ses_1", store });
  await session.append({ type: "user", origin: "person", content: [{ type: "text", text: "Go." }] });
  const usage = {
    input_tokens: 9,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 9,
    reasoning_tokens: 0,
  };
  for (let at = 0; lines.length < EVENTS; at++) {
    const [id, name] = [`c${at}`, "fs"];
    const content = [
      { type: "tool_call", id, name, arguments: '{"action":"read","uri":"src/main.ts"}' },
    ] as const;
    await session.append({
      type: "message",
      message: { role: "assistant", content },
      stop: "tool_calls",
      usage,
      cost: 0,
      context: { used_tokens: 9, size_tokens: 9 },
    });
    const outline = {
      title: "fs.read src/main.ts",
      kind: "read",
      reads_only: true,
      paths: ["src/main.ts"],
    } as const;
    await session.append({ type: "tool_began", call_id: id, name, input: {}, ...outline });
    const result = [{ type: "text", text: `export const n = ${at};\n` }] as const;
    await session.append({
      type: "tool_ended",
      call_id: id,
      name,
      content: result,
      is_error: false,
      duration_ms: 3,
    });
  }

  writeFileSync(file, `${lines.join("\n")}\n`);
}

function createFolder(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "octant-bench-agent-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
