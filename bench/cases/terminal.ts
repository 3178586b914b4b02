import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type IPty, spawn } from "@lydell/node-pty";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { providerEnvironment } from "../../eval/agent-environment.ts";
import type { Case } from "../case.ts";
import { layOutInstall } from "../install.ts";
import { toSpread } from "../measure.ts";
import { atMost, type Bar, type Row } from "../row.ts";

const STARTS = 5;
const READY = "ask, or / for commands";
const TOKENS = 10_000;
const TOKENS_PER_SECOND = 2_000;
const CHARS_PER_TOKEN = 4;
/** The scripted provider streams pieces of this length. */
const CHARS_PER_EVENT = 7;
const ECHO_EVERY_MS = 100;
const BEGIN_FRAME = "\x1b[?2026h";

/** The agent on a terminal of 120 by 40: start, stream, keys. */
export const terminal: readonly Case[] = [
  { name: "terminal: start", run: () => start("ms") },
  { name: "terminal: start CPU", run: () => start("CPU s") },
  { name: "terminal: memory", run: () => start("MB") },
  { name: "terminal: stream CPU", run: () => stream("% of a core") },
  { name: "terminal: stream frame", run: () => stream("kB") },
  { name: "terminal: key echo", run: () => stream("ms") },
];

const START_BARS = { ms: atMost(500), "CPU s": atMost(0.4), MB: atMost(110) } as const;
const STREAM_BARS = { "% of a core": atMost(15), kB: atMost(5), ms: atMost(50) } as const;

/** From the start of `octant` to a prompt that accepts keys. */
async function start(unit: keyof typeof START_BARS): Promise<Row> {
  await using chat = await openChat(() => ({ parts: [{ text: "Hello." }] }));
  const samples: Record<keyof typeof START_BARS, number[]> = { ms: [], "CPU s": [], MB: [] };
  for (let at = 0; at <= STARTS; at++) {
    const begin = performance.now();
    const pty = chat.open();
    await pty.shows(READY);
    // The first one fills the compile cache.
    if (at > 0) {
      samples.ms.push(performance.now() - begin);
      samples["CPU s"].push(cpuSeconds(pty.pid));
      samples.MB.push(memoryMb(pty.pid));
    }
    await pty.end();
  }
  const notes = {
    ms: "spawn to a ready prompt in a pty, compile cache warm",
    "CPU s": "CPU of the process until the prompt is ready",
    MB: "resident memory at the ready prompt",
  };
  return toRow(
    `terminal: ${unit === "MB" ? "memory" : unit === "ms" ? "start" : "start CPU"}`,
    unit,
    samples[unit],
    START_BARS[unit],
    notes[unit],
  );
}

/** An answer of Markdown at full speed, with keys typed meanwhile. */
async function stream(unit: keyof typeof STREAM_BARS): Promise<Row> {
  let text = "";
  for (let i = 0; text.length < TOKENS * CHARS_PER_TOKEN; i++) text += paragraph(i);
  await using chat = await openChat(() => ({
    parts: [{ text: `${text}\n\nTHE END\n` }],
    events_per_second: (TOKENS_PER_SECOND * CHARS_PER_TOKEN) / CHARS_PER_EVENT,
  }));
  const pty = chat.open();
  await pty.shows(READY);
  const [cpu, begin, bytes] = [cpuSeconds(pty.pid), performance.now(), pty.output().length];
  pty.write("go\r");
  await pty.shows("part 1 ");
  const echoes: number[] = [];
  let typed = "";
  while (!pty.output().includes("THE END")) {
    typed += "x";
    const typedAt = performance.now();
    pty.write("x");
    await pty.shows(typed);
    echoes.push(performance.now() - typedAt);
    await delay(ECHO_EVERY_MS);
  }
  const seconds = (performance.now() - begin) / 1_000;
  const frames = pty.output().slice(bytes).split(BEGIN_FRAME).slice(1);
  const measured = {
    "% of a core": [((cpuSeconds(pty.pid) - cpu) / seconds) * 100],
    kB: frames.map((frame) => Buffer.byteLength(frame) / 1_000),
    ms: echoes,
  };
  await pty.end();
  const notes = {
    "% of a core": `CPU of the process over ${seconds.toFixed(1)} s`,
    kB: `bytes of ${frames.length} frames; the mean counts`,
    ms: `a key to its echo, at the p99 of ${echoes.length}`,
  };
  const name = { "% of a core": "stream CPU", kB: "stream frame", ms: "key echo" }[unit];
  const figure = {
    "% of a core": measured["% of a core"][0] ?? 0,
    kB: measured.kB.reduce((sum, one) => sum + one, 0) / Math.max(frames.length, 1),
    ms: echoes.sort((a, b) => a - b)[Math.floor(echoes.length * 0.99)] ?? 0,
  }[unit];
  const what = `${TOKENS} tokens of Markdown at ${TOKENS_PER_SECOND} a second: ${notes[unit]}`;
  return { ...toRow(`terminal: ${name}`, unit, measured[unit], STREAM_BARS[unit], what), figure };
}

/** Markdown as models write it. */
const paragraph = (i: number): string =>
  i % 10 === 0
    ? `\n\n## Heading of part ${i}\n\n\`\`\`ts\nconst part${i} = "${i}";\n\`\`\`\n\n`
    : `- part ${i} with **bold**, \`code\` and 漢字 as models write it, on and on\n`;

function toRow(name: string, unit: Row["unit"], samples: readonly number[], bar: Bar, note: string): Row {
  const octant = toSpread([...samples]);
  return { name, unit, octant, figure: octant.p50, bar, note };
}

interface Chat extends AsyncDisposable {
  open(): Terminal;
}

interface Terminal {
  readonly pid: number;
  write(text: string): void;
  output(): string;
  shows(text: string): Promise<void>;
  end(): Promise<void>;
}

async function openChat(script: Script): Promise<Chat> {
  const folder = mkdtempSync(join(tmpdir(), "octant-bench-terminal-"));
  const provider = await createScriptedProvider(script);
  const launcher = layOutInstall(join(folder, "install"));
  const cwd = join(folder, "project");
  mkdirSync(cwd);
  const env = {
    ...process.env,
    ...providerEnvironment(provider),
    HOME: folder,
    XDG_STATE_HOME: join(folder, "state"),
    XDG_CACHE_HOME: join(folder, "cache"),
    TERM: "xterm-256color",
    COLORTERM: "truecolor",
    OCTANT_THEME: "dark",
  };
  return {
    open: () =>
      watch(
        spawn(process.execPath, [launcher, "chat", "--provider", "anthropic"], {
          cwd,
          env,
          cols: 120,
          rows: 40,
        }),
      ),
    async [Symbol.asyncDispose]() {
      await provider.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function watch(pty: IPty): Terminal {
  let output = "";
  let onData = () => {};
  pty.onData((data) => {
    output += data;
    onData();
  });
  const exited = new Promise<void>((resolve) => pty.onExit(() => resolve()));
  return {
    pid: pty.pid,
    write: (text) => pty.write(text),
    output: () => output,
    async shows(text) {
      while (!output.includes(text)) {
        await new Promise<void>((resolve) => {
          onData = resolve;
        });
      }
    },
    async end() {
      pty.write("\x03\x03");
      pty.kill("SIGTERM");
      await exited;
    },
  };
}

const TICKS_PER_SECOND = 100;

/** User and system time of one process. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

const memoryMb = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) / 1_000;
