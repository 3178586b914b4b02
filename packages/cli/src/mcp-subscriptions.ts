import { type Jobs, ToolError } from "@octant/core";
import type { Confinement, FileChanges, Processes } from "@octant/host";
import type { ResourceSource } from "./mcp-calls.ts";

/** The sources of changes to resources. */
export interface ChangeSources {
  readonly files: FileChanges;
  readonly confinement: Pick<Confinement, "toPath">;
  readonly jobs: Pick<Jobs, "events" | "get" | "ended">;
  readonly processes: Pick<Processes, "onOutput" | "output">;
}

export type Subscribe = NonNullable<ResourceSource["subscribe"]>;

/** For all clients together. */
const MAX_OPEN = 20_000;

const FILE = /^file:\/\/\//;
const JOB = /^octant:\/\/job\/([^/]+)$/;
const OUTPUT = /^(stdout|stderr):(.+)$/;

/**
 * `isThere` asks the tools on behalf of the subscriber; it throws for resources that the subscriber may not
 * read.
 */
export function createSubscribe(
  sources: ChangeSources,
  isThere: (uri: string, ctx: Parameters<Subscribe>[2]) => Promise<boolean>,
): Subscribe {
  let open = 0;
  return async (uri, onChange, ctx) => {
    if (!(await isThere(uri, ctx))) return undefined;
    if (open >= MAX_OPEN) throw tooMany();
    open++;
    try {
      const stop = await follow(uri, onChange, ctx.caller.id, sources);
      return () => {
        open--;
        stop();
      };
    } catch (cause) {
      open--;
      throw cause;
    }
  };
}

async function follow(
  uri: string,
  onChange: () => void,
  owner: string,
  { files, confinement, jobs, processes }: ChangeSources,
): Promise<() => void> {
  if (FILE.test(uri)) return files.subscribe(confinement.toPath(uri), onChange);
  const job_id = JOB.exec(uri)?.[1];
  if (job_id !== undefined) return followJob(job_id, onChange, owner, jobs);
  const [, stream, proc_id] = OUTPUT.exec(uri) ?? [];
  if (proc_id === undefined) return forEver;
  // The regular expression matches only these two.
  const spool = processes.output(owner, proc_id, stream as "stdout" | "stderr");
  let printed = spool.total();
  return processes.onOutput(proc_id, () => {
    if (spool.total() === printed) return;
    printed = spool.total();
    onChange();
  });
}

async function followJob(
  job_id: string,
  onChange: () => void,
  owner: string,
  jobs: ChangeSources["jobs"],
): Promise<() => void> {
  const controller = new AbortController();
  const { signal } = controller;
  const stop = jobs.events.listen(({ value }) => {
    if (value.job_id === job_id) onChange();
  });
  // For a job in another process only its end is known here. A job that is removed meanwhile never ends.
  const { state } = await jobs.get(owner, job_id);
  if (state === "queued" || state === "running")
    jobs.ended(owner, job_id, MAX_JOB_MS, signal).then(
      () => signal.aborted || onChange(),
      () => {},
    );
  return () => {
    controller.abort();
    stop();
  };
}

const MAX_JOB_MS = 24 * 60 * 60 * 1_000;

/** Blobs are content-addressed, and the manual never changes while the server runs. */
const forEver = () => {};

const tooMany = () =>
  new ToolError("LIMIT_EXCEEDED", "too many resources are subscribed to; unsubscribe from some", {
    limit: MAX_OPEN,
  });
