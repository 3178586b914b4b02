import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWorkspace } from "@octant/host";
import { createTermCutter } from "@octant/search";
import { createMemoryIndex } from "../../packages/tools/src/memory/memory-store.ts";
import { createRecall } from "../../packages/tools/src/memory/recall.ts";
import { openMemoryStore } from "../../packages/tools/src/memory/sqlite-memory-store.ts";
import type { Bench, Case } from "../case.ts";
import { interleave, timed } from "../measure.ts";
import { atMost, type Row } from "../row.ts";

const FILES = 13_000;
const FILES_PER_FOLDER = 100;
const CHANGED = 100;
const MEMORIES = 10_000;
const UNCHANGED_MS = 60;
const CHANGED_MS = 150;
const RECALL_MS = 50;

export const crew: readonly Case[] = [
  { name: "checkpoint, nothing changed", run: (bench) => checkpoint(bench, 0, UNCHANGED_MS) },
  { name: "checkpoint, 100 files changed", run: (bench) => checkpoint(bench, CHANGED, CHANGED_MS) },
  { name: "memory recall", run: recall },
];

async function checkpoint({ effort, random }: Bench, changed: number, most: number): Promise<Row> {
  const base = mkdtempSync(join(tmpdir(), "octant-bench-checkpoints-"));
  const root = join(base, "ws");
  const pathOf = (at: number) => join(root, `folder-${Math.floor(at / FILES_PER_FOLDER)}`, `file-${at}.txt`);
  for (let at = 0; at < FILES; at++) {
    if (at % FILES_PER_FOLDER === 0) mkdirSync(join(pathOf(at), ".."), { recursive: true });
    writeFileSync(pathOf(at), `text ${at}\n`);
  }
  const env = { PATH: process.env["PATH"], HOME: base, XDG_STATE_HOME: join(base, "state") };
  const workspace = createWorkspace({ roots: [root], env, warn: () => {} });
  try {
    await workspace.checkpoints.take("first");
    const { octant } = await interleave(
      {
        octant(round) {
          for (let at = 0; at < changed; at++)
            writeFileSync(pathOf(at * 7), `text ${at} in round ${round}\n`);
          return timed(() => workspace.checkpoints.take(`round ${round}`));
        },
      },
      effort,
      random,
    );
    const note = `${FILES} files, ${changed} of them changed`;
    const name = changed === 0 ? "checkpoint, nothing changed" : `checkpoint, ${changed} files changed`;
    return { name, unit: "ms", octant, figure: octant.p50, bar: atMost(most), note };
  } finally {
    await workspace.close();
    rmSync(base, { recursive: true, force: true });
  }
}

const FIXTURE = join(import.meta.dirname, "../../test/fixtures/memory/held-out.txt");

async function recall({ effort, random }: Bench): Promise<Row> {
  const cut = createTermCutter();
  const store = await openMemoryStore(createMemoryIndex(cut));
  const ask = createRecall({ cut });
  const { signal } = new AbortController();
  const pairs = readFileSync(FIXTURE, "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(" | "));
  const pick = (part: 0 | 1) => pairs[Math.floor(random() * pairs.length)]?.[part] ?? "";
  for (let at = 0; at < MEMORIES; at++)
    await store.put(
      {
        memory_id: `mem_${at}`,
        scope: "project",
        kind: "note",
        text: `${pick(0)} ${pick(0)} ${at}`,
        tags: [],
        source: "bench",
        confidence: 1,
        created_at: "",
        updated_at: "",
        links: [],
      },
      "bench",
    );
  const filter = { scopes: ["project"], owner: "bench", limit: 10 } as const;
  const { octant } = await interleave(
    { octant: () => timed(() => ask([store], { query: pick(1) }, filter, signal)) },
    effort,
    random,
  );
  store.close();
  const note = `${MEMORIES} memories of two sentences; the bar is for p95`;
  return { name: "memory recall", unit: "ms", octant, figure: octant.p95, bar: atMost(RECALL_MS), note };
}
