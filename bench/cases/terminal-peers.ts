import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { spawn } from "@lydell/node-pty";
import { createScriptedProvider } from "@octant/scripted-provider";
import { PEERS, type Peer, type PeerInstall, withPeer } from "../agent-peers.ts";
import type { Case } from "../case.ts";
import { layOutInstall } from "../install.ts";
import { toSpread } from "../measure.ts";
import type { Row } from "../row.ts";

const STARTS = 2;
/** An agent that takes longer is counted once. */
const LONG_START_MS = 5_000;
const MAX_START_MS = 60_000;
const KEY_EVERY_MS = 50;
/** None of the screens shows it by itself. */
const KEY = "ξ";

/** From the start to the first echoed key, beside the other agents, in one run on one machine. */
export const terminalPeers: readonly Case[] = [{ name: "terminal: peers", run: besidePeers }];

async function besidePeers(): Promise<Row> {
  const ours = await withPeer(OCTANT, (install) => startRepeatedly(OCTANT, install));
  if (typeof ours === "string") throw new Error(`octant: ${ours}`);
  const notes: string[] = [];
  for (const peer of PEERS) {
    const found = await withPeer(peer, (install) => startRepeatedly(peer, install));
    notes.push(`${peer.name} ${typeof found === "string" ? found : inWords(found)}`);
  }
  const octant = toSpread(ours.map(({ ms }) => ms));
  const note = `start to the first echoed key, CPU and memory of all its processes: Octant ${inWords(ours)}; ${notes.join("; ")}`;
  return { name: "terminal: peers", unit: "ms", octant, figure: octant.p50, note };
}

interface Started {
  readonly ms: number;
  readonly cpuSeconds: number;
  readonly megabytes: number;
}

const OCTANT: Peer = {
  name: "Octant",
  program: "@octant/cli/bin/octant.js",
  install: (folder) => void layOutInstall(folder),
  args: () => [],
  screen: () => ["chat", "--provider", "anthropic"],
};

/** The first start may set up a home, so it is not counted. */
async function startRepeatedly(peer: Peer, install: PeerInstall): Promise<readonly Started[] | string> {
  await using provider = await createScriptedProvider(() => ({ parts: [{ text: "Hello." }] }), {
    forgets: true,
    models: ["scripted"],
  });
  const { home, project, env } = install.settle(provider);
  const starts: Started[] = [];
  for (let at = 0; at <= STARTS; at++) {
    const started = await startOnce([install.program, ...peer.screen(provider)], project, {
      ...env,
      HOME: home,
      TERM: "xterm-256color",
      LANG: "C.UTF-8",
    });
    if (!started) return "skipped: its prompt takes no keys with an empty home";
    if (at > 0) starts.push(started);
    if (at > 0 && started.ms > LONG_START_MS) break;
  }
  return starts;
}

async function startOnce(
  command: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<Started | undefined> {
  const began = performance.now();
  // Without the terminal's own echo: an echoed key is one that the program has drawn.
  const pty = spawn("/bin/sh", ["-c", 'stty -echo; exec "$@"', "sh", ...command], {
    cwd,
    env,
    cols: 120,
    rows: 40,
  });
  const exited = new Promise<void>((resolve) => pty.onExit(() => resolve()));
  const ready = new Promise<boolean>((resolve) => {
    let output = "";
    pty.onData((data) => {
      output += data;
      if (output.includes(KEY)) resolve(true);
    });
    void exited.then(() => resolve(false));
    setTimeout(() => resolve(false), MAX_START_MS).unref();
  });
  const typing = setInterval(() => pty.write(KEY), KEY_EVERY_MS);
  const isReady = await ready;
  const ms = performance.now() - began;
  clearInterval(typing);
  const pids = familyOf(pty.pid);
  const started = isReady && {
    ms,
    cpuSeconds: pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0),
    megabytes: pids.reduce((sum, pid) => sum + proportionalMb(pid), 0),
  };
  for (const pid of pids) endQuietly(pid, "SIGTERM");
  await Promise.race([exited, delay(2_000)]);
  for (const pid of pids) endQuietly(pid, "SIGKILL");
  return started || undefined;
}

function endQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

/** The process and all that descend from it. */
function familyOf(root: number): readonly number[] {
  const parents = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), Number(statOf(Number(name))[1])]),
  );
  const family = [root];
  for (const pid of family) for (const [child, parent] of parents) if (parent === pid) family.push(child);
  return family;
}

const statOf = (pid: number): readonly string[] =>
  readIfThere(`/proc/${pid}/stat`).split(") ")[1]?.split(" ") ?? [];

const TICKS_PER_SECOND = 100;

/** With the children that it has waited for. */
const cpuSeconds = (pid: number): number =>
  [11, 12, 13, 14].reduce((sum, at) => sum + Number(statOf(pid)[at] ?? 0), 0) / TICKS_PER_SECOND;

/** Shared pages count in parts, so that several processes of one program are not counted several times. */
const proportionalMb = (pid: number): number =>
  Number(/^Pss:\s+(\d+) kB/m.exec(readIfThere(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) / 1_000;

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function inWords(starts: readonly Started[]): string {
  const middle = (of: (one: Started) => number) => toSpread(starts.map(of)).p50;
  const [ms, cpu, mb] = [
    middle((one) => one.ms),
    middle((one) => one.cpuSeconds),
    middle((one) => one.megabytes),
  ];
  return `${Math.round(ms)} ms, ${cpu.toFixed(2)} CPU s, ${Math.round(mb)} MB`;
}
