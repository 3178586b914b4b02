import { setTimeout as delay } from "node:timers/promises";
import { createFixtureProject } from "../../test/fixture-project.ts";
import { CROWD_SIZE, createCrowd, MIN_CROWD_PROCESSES } from "./processes-crowd.ts";
import { type ServedProject, serveProject } from "./processes-server.ts";
import { untilEmpty } from "./processes-table.ts";
import type { Report, Torture } from "./report.ts";

const MAX_SURVIVAL_MS = 5_000;
/** The share of kills that come while the jobs are still being started. */
const EARLY_SHARE = 0.25;
const MAX_EARLY_MS = 600;

/** Kills the server repeatedly while it runs ten jobs, and asks the next one about them. */
export const serverKills: Torture = async (count, random, onProgress) => {
  using project = createFixtureProject();
  const violations: string[] = [];
  let slowestMs = 0;
  let interrupted = 0;
  let early = 0;
  let server = await serveProject(project);
  for (let round = 0; round < count && violations.length === 0; round++) {
    const isEarly = random() < EARLY_SHARE;
    early += isEarly ? 1 : 0;
    const crowd = createCrowd();
    const starting = crowd.start(server);
    await (isEarly ? delay(random() * MAX_EARLY_MS) : starting);
    const before = crowd.remember(server);
    process.kill(server.pid, "SIGKILL");
    const jobs = await starting;
    if (!isEarly && jobs.length !== CROWD_SIZE) violations.push(`round ${round}: only ${jobs.length} jobs`);
    if (!isEarly && before < MIN_CROWD_PROCESSES)
      violations.push(`round ${round}: only ${before} processes before the kill, so nothing was shown`);
    const { ms, left } = await untilEmpty(crowd.running, MAX_SURVIVAL_MS);
    slowestMs = Math.max(slowestMs, ms);
    for (const { pid, name } of left)
      violations.push(`round ${round}: ${name} (${pid}) outlived the server by ${MAX_SURVIVAL_MS} ms`);

    server = await serveProject(project);
    violations.push(...(await checkInterrupted(server, jobs)).map((what) => `round ${round}: ${what}`));
    interrupted += jobs.length;
    onProgress(round + 1);
  }
  await server[Symbol.asyncDispose]();
  return {
    what: `${count} kill -9 of a server with ${CROWD_SIZE} jobs`,
    facts: `${interrupted} jobs INTERRUPTED, ${early} kills during their start, the last descendant gone after ${slowestMs.toFixed(0)} ms at the latest`,
    violations,
  } satisfies Report;
};

/** The violations in the next server's report about the jobs of a killed one. */
async function checkInterrupted(server: ServedProject, job_ids: readonly string[]): Promise<string[]> {
  const { jobs: running } = await server.data("job", "list", { status: "running" });
  const { jobs: failed } = await server.data("job", "list", { status: "failed", limit: 1_000 });
  const listed = new Set(failed.map(({ job_id }: { job_id: string }) => job_id));
  const wrong = running.map(({ job_id }: { job_id: string }) => `${job_id} still counts as running`);
  for (const job_id of job_ids) {
    const { job, result } = await server.data("job", "status", { job_id });
    if (job.state !== "failed" || result?.error?.code !== "INTERRUPTED")
      wrong.push(`${job_id} is ${job.state} with ${JSON.stringify(result?.error)}`);
    if (!listed.has(job_id)) wrong.push(`${job_id} is not in the list of the failed`);
  }
  return wrong;
}
