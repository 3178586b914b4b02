import { createFixtureProject } from "../../test/fixture-project.ts";
import { CLIENT_LIMIT_MS, type ServedProject, serveProject } from "./processes-server.ts";
import type { Report, Torture } from "./report.ts";

const MS_PER_MINUTE = 60_000;
const EXIT_CODE = 7;
/** The rest of the limit is for the round trip. */
const POLL_SHARE = 5 / 6;
const WAIT_SHARE = 3 / 4;

/** A command of this many minutes, driven by a client that gives up on every request after one. */
export const longJob: Torture = async (minutes, _random, onProgress) => {
  const report = await driveLongJob(minutes * MS_PER_MINUTE, CLIENT_LIMIT_MS);
  onProgress(minutes);
  return report;
};

export async function driveLongJob(jobMs: number, limitMs: number): Promise<Report> {
  using project = createFixtureProject();
  await using server = await serveProject(project, { limitMs });
  const reports = await Promise.all([
    drive(server, jobMs, limitMs, { wait: Math.round(limitMs * WAIT_SHARE) }),
    drive(server, jobMs, limitMs, { background: true }),
  ]);
  const longest = Math.max(...reports.map(({ longestMs }) => longestMs));
  const polls = reports.map((report) => report.polls).join(" and ");
  return {
    what: `a job of ${jobMs / 1_000} s by a client with a limit of ${limitMs / 1_000} s, after wait and in the background`,
    facts: `${polls} polls, the longest request took ${(longest / 1_000).toFixed(1)} s`,
    violations: reports.flatMap(({ violations }) => violations),
  };
}

async function drive(server: ServedProject, jobMs: number, limitMs: number, how: object) {
  const violations: string[] = [];
  let longestMs = 0;
  let polls = 0;
  const timed = async <T>(request: Promise<T>): Promise<T> => {
    const start = performance.now();
    try {
      return await request;
    } finally {
      longestMs = Math.max(longestMs, performance.now() - start);
    }
  };
  const name = JSON.stringify(how);
  try {
    const command = `echo begun; sleep ${jobMs / 1_000}; echo done; exit ${EXIT_CODE}`;
    const start = performance.now();
    const { data, meta } = await timed(server.call("proc", "exec", { command, ...how }));
    if (data?.status !== "running" || !meta.job_id) throw new Error(`no job: ${JSON.stringify(data)}`);
    let polled = { job: { state: "running" } } as { job: { state: string }; result?: { data?: object } };
    for (; polled.job.state === "running"; polls++) {
      const wait = Math.round(limitMs * POLL_SHARE);
      polled = await timed(server.data("job", "poll", { job_id: meta.job_id, wait }));
    }
    const { exit_code, stdout } = { exit_code: null, stdout: "", ...polled.result?.data };
    if (polled.job.state !== "complete" || exit_code !== EXIT_CODE || stdout !== "begun\ndone\n")
      violations.push(`${name}: ${JSON.stringify(polled)}`);
    if (performance.now() - start < jobMs) violations.push(`${name}: it ended too early`);
  } catch (cause) {
    violations.push(`${name}: ${cause}`);
  }
  if (longestMs >= limitMs) violations.push(`${name}: a request took ${longestMs.toFixed(0)} ms`);
  return { violations, longestMs, polls };
}
