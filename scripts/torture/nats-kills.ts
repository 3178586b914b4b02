import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Envelope } from "@octant/core";
import { createNatsClient, type NatsClient } from "@octant/wire";
import { startNatsServer } from "../../packages/wire/testing/nats-server.ts";
import { LAUNCHER } from "../../test/published-command.ts";
import type { Report, Torture } from "./report.ts";

const WORKERS = 3;
const FEW_WORKERS = 2;
/** Kills at full size, spread over the jobs. */
const KILLS = 20;
const MIN_JOBS_PER_KILL = 25;
/** Even a short run has a kill. */
const toJobsPerKill = (count: number) =>
  Math.max(Math.min(MIN_JOBS_PER_KILL, Math.floor(count / 2) + 1), Math.floor(count / KILLS));
const MAX_PAUSE_MS = 300;
const MAX_WAIT_MS = 10 * 60_000;
const caller = { id: "local", access: "admin" } as const;

/** `count` jobs for a few workers that are killed at random: each ends exactly once, runs at most once, and none is lost. */
export const natsKills: Torture = (count, random, onProgress) => killNatsWorkers(count, random, onProgress);

export async function killNatsWorkers(
  count: number,
  random: () => number,
  onProgress: (done: number) => void = () => {},
): Promise<Report> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-nats-kills-")));
  const root = join(base, "project");
  mkdirSync(root);
  const log = join(root, "ran.txt");
  writeFileSync(log, "");
  const nats = await startNatsServer();
  const workers = createWorkers(nats.url, root, base, random);
  try {
    const project = await workers.start(count < MIN_JOBS_PER_KILL ? FEW_WORKERS : WORKERS);
    const client = await createNatsClient({ url: nats.url, project });
    const jobs: string[] = [];
    const perKill = toJobsPerKill(count);
    for (let n = 0; n < count; n++) {
      const input = { command: ["/bin/sh", "-c", `echo ${n} >> ran.txt; echo ${n}`] };
      jobs.push(await client.enqueue({ tool: "proc", action: "exec", input }, { caller }));
      // Right after new jobs, so that some of them run or wait at the killed worker.
      if ((n + 1) % perKill === 0) await workers.killOne();
    }
    const first = await results(client, jobs, onProgress);
    const second = await results(client, jobs, () => {});
    await client.close();
    return judge(jobs, first, second, readFileSync(log, "utf8"), workers.kills());
  } finally {
    await workers.stop();
    await nats.stop();
    rmSync(base, { recursive: true, force: true });
  }
}

function judge(
  jobs: readonly string[],
  first: readonly (Envelope | undefined)[],
  second: readonly (Envelope | undefined)[],
  log: string,
  kills: number,
): Report {
  const violations = kills > 0 ? [] : ["no worker was killed"];
  let complete = 0;
  for (const [n, job_id] of jobs.entries()) {
    const [one, other] = [first[n], second[n]];
    if (!one) violations.push(`${job_id} has no result`);
    else if (JSON.stringify(one) !== JSON.stringify(other)) violations.push(`${job_id} has two results`);
    else if (one.ok) {
      complete += 1;
      if (!JSON.stringify(one.data).includes(`"${n}\\n"`) && !JSON.stringify(one.data).includes(`${n}\\n`))
        violations.push(`${job_id} has the result of another: ${JSON.stringify(one.data)}`);
    } else if (one.error.code !== "INTERRUPTED")
      violations.push(`${job_id} failed by itself: ${JSON.stringify(one.error)}`);
  }
  const runs = log.trim().split("\n");
  for (const n of runs.filter((line, at) => runs.indexOf(line) !== at)) violations.push(`job ${n} ran twice`);
  const failed = jobs.length - complete;
  const codes = [...new Set(first.flatMap((one) => (one && !one.ok ? [one.error.code] : [])))].join(", ");
  const facts = `${jobs.length} jobs, ${kills} kills, ${complete} complete, ${failed} failed${failed ? ` (${codes})` : ""}, ${runs.length} runs`;
  return { what: "NATS workers killed at random", facts, violations };
}

async function results(client: NatsClient, jobs: readonly string[], onProgress: (done: number) => void) {
  const found: (Envelope | undefined)[] = [];
  const end = performance.now() + MAX_WAIT_MS;
  for (const [n, job_id] of jobs.entries()) {
    let result = await client.result(job_id);
    while (!result && performance.now() < end) {
      await sleep(100);
      result = await client.result(job_id);
    }
    found.push(result);
    onProgress(n + 1);
  }
  return found;
}

function createWorkers(url: string, root: string, home: string, random: () => number) {
  const children: ChildProcess[] = [];
  let kills = 0;

  const startOne = async (): Promise<string> => {
    const child = spawn(process.execPath, [LAUNCHER, "worker", "--nats", url, "--root", root, "--json"], {
      env: { PATH: process.env["PATH"] ?? "", HOME: home },
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    return JSON.parse(line).project;
  };
  /** Kills a worker and starts a replacement. */
  const killOne = async () => {
    await sleep(random() * MAX_PAUSE_MS);
    const alive = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    const child = alive[Math.floor(random() * alive.length)];
    if (!child) return;
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
    kills += 1;
    await startOne();
  };
  return {
    async start(number: number) {
      const [project = ""] = await Promise.all(Array.from({ length: number }, startOne));
      return project;
    },
    killOne,
    kills: () => kills,
    async stop() {
      const exits = children.map(
        (child) => child.exitCode === null && child.signalCode === null && once(child, "exit"),
      );
      for (const child of children) child.kill("SIGKILL");
      await Promise.all(exits);
    },
  };
}
