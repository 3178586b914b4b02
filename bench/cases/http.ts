import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Bench, Case } from "../case.ts";
import { type HttpLoad, openLoad } from "../http-load.ts";
import { layOutInstall } from "../install.ts";
import { interleave } from "../measure.ts";
import { atLeast, type Row } from "../row.ts";

const CLIENTS = 100;
const CALLS_PER_SAMPLE = 3_000;
/** The rate of a warmed-up server. */
const WARM_UP_FACTOR = 5;
const SPAWNS_PER_SAMPLE = 200;
/** A project may have at most 64 processes. */
const EXEC_CLIENTS = 50;
/** More would only wait for the two cores. */
const SPAWNS_IN_FLIGHT = 8;
const SERVER = join(import.meta.dirname, "../http-server.ts");
const MODERN = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

export const http: readonly Case[] = [
  {
    name: "HTTP reads, to the SDK",
    run: (bench) =>
      compareReads(bench, "tool", {
        name: "HTTP reads, to the SDK",
        bar: atLeast(2),
        note: `${CLIENTS} clients read 1 KB; floor: a no-op tool on the official SDK's handler; the paper: 8,900/s`,
      }),
  },
  {
    name: "HTTP reads, to the bare SDK",
    run: (bench) =>
      compareReads(bench, "handler", {
        name: "HTTP reads, to the bare SDK",
        note: `${CLIENTS} clients read 1 KB; floor: the SDK's handler without a tool, on its low-level Server`,
      }),
  },
  {
    name: "HTTP reads, to node:http",
    run: (bench) =>
      compareReads(bench, "bare", {
        name: "HTTP reads, to node:http",
        bar: atLeast(0.6),
        note: `${CLIENTS} clients read 1 KB; floor: a JSON-RPC no-op written by hand on node:http`,
      }),
  },
  { name: "HTTP exec true", run: (bench) => execTrue(bench, EXEC_FREE) },
  { name: "HTTP exec sandboxed", run: (bench) => execTrue(bench, EXEC_SANDBOXED) },
];

interface Exec extends Pick<Row, "name" | "note" | "bar"> {
  readonly sandbox: "off" | "workspace";
}

const EXEC_FLOOR = "floor: spawns of `true` by a process that does nothing else";
const EXEC_FREE: Exec = {
  name: "HTTP exec true",
  sandbox: "off",
  bar: atLeast(0.8),
  note: `${EXEC_CLIENTS} clients, sandbox off; ${EXEC_FLOOR}; the paper: 450/s`,
};
const EXEC_SANDBOXED: Exec = {
  name: "HTTP exec sandboxed",
  sandbox: "workspace",
  note: `${EXEC_CLIENTS} clients, as fast as they are answered; ${EXEC_FLOOR}`,
};

async function compareReads(
  { tree, effort, random }: Bench,
  role: string,
  row: Pick<Row, "name" | "bar" | "note">,
): Promise<Row> {
  await using octant = await start("octant", tree.root);
  const read = { action: "read", uri: tree.smallFiles[0] };
  using ours = octant.open("fs", read, CLIENTS);
  const { result } = JSON.parse(await ours.once());
  await using other = await start(role, tree.root, JSON.stringify(result));
  using theirs = other.open("fs", read, CLIENTS);
  const spreads = await interleave(
    { octant: () => ours.rate(CALLS_PER_SAMPLE), noOp: () => theirs.rate(CALLS_PER_SAMPLE) },
    { ...effort, warmUpMs: effort.warmUpMs * WARM_UP_FACTOR },
    random,
  );
  return { ...row, unit: "calls/s", ...spreads, figure: spreads.octant.p50 / spreads.noOp.p50 };
}

async function execTrue({ tree, effort, random }: Bench, { sandbox, ...row }: Exec): Promise<Row> {
  await using octant = await start("octant", tree.root, "", sandbox);
  using calls = octant.open("proc", { action: "exec", command: ["true"] }, EXEC_CLIENTS);
  using spawner = startSpawner();
  const { octant: ours, noOp } = await interleave(
    { octant: () => calls.rate(SPAWNS_PER_SAMPLE), noOp: spawner.rate },
    { ...effort, warmUpMs: effort.warmUpMs * WARM_UP_FACTOR, maxRounds: 40 },
    random,
  );
  return { ...row, unit: "calls/s", octant: ours, noOp, figure: ours.p50 / noOp.p50 };
}

interface Contender extends AsyncDisposable {
  open(tool: string, args: object, clients: number): HttpLoad;
}

/** A contender in its own process, with its own settings and state; ours is the build output, as people have it. */
async function start(role: string, root: string, input = "", mode = "off"): Promise<Contender> {
  const folder = mkdtempSync(join(tmpdir(), "octant-bench-http-"));
  mkdirSync(join(folder, "config/hanzo"), { recursive: true });
  writeFileSync(join(folder, "config/hanzo/settings.json"), JSON.stringify({ sandbox: { mode } }));
  const env = {
    ...process.env,
    XDG_CONFIG_HOME: join(folder, "config"),
    XDG_STATE_HOME: join(folder, "state"),
    XDG_CACHE_HOME: join(folder, "cache"),
  };
  const args =
    role === "octant"
      ? [layOutInstall(join(folder, "install")), "serve", "--http", "--json", "--root", root]
      : [SERVER, role];
  const child = spawn(process.execPath, args, { env });
  child.stderr.pipe(process.stderr);
  child.stdin.end(input);
  const { url, token } = JSON.parse(await firstLine(child));
  return {
    open: (tool, args, clients) =>
      openLoad(clients, {
        url,
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": tool,
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: tool, arguments: args, _meta: MODERN },
        }),
      }),
    async [Symbol.asyncDispose]() {
      const { promise, resolve } = Promise.withResolvers<void>();
      child.once("exit", () => resolve());
      child.kill("SIGKILL");
      await promise;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function firstLine({ stdout }: ChildProcessWithoutNullStreams): Promise<string> {
  for await (const line of createInterface({ input: stdout })) return line;
  throw new Error("a server ended before it listened");
}

function startSpawner(): Disposable & { rate(): Promise<number> } {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", SPAWNER], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async rate() {
      child.stdin.write("go\n");
      return Number((await lines.next()).value);
    },
    [Symbol.dispose]: () => child.stdin.end(),
  };
}

const SPAWNER = `
  import { spawn } from "node:child_process";
  import { once } from "node:events";
  const one = async () => {
    const child = spawn("true", { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.resume();
    child.stderr.resume();
    await once(child, "close");
  };
  for await (const _ of process.stdin) {
    let left = ${SPAWNS_PER_SAMPLE};
    const start = performance.now();
    await Promise.all(Array.from({ length: ${SPAWNS_IN_FLIGHT} }, async () => { while (left-- > 0) await one(); }));
    console.log(${SPAWNS_PER_SAMPLE} / ((performance.now() - start) / 1000));
  }
`;
