import { createTopic, type ErrorCode, type Jobs, type Registry, ToolError } from "@octant/core";
import type { Confinement, FileChanges, Processes } from "@octant/host";
import type { Asking, CallFor, ResourceSource } from "./calls.ts";
import { type FileListSources, followFileList } from "./file-list.ts";
import { JOB, readResource, unlessNotThere } from "./resources.ts";

/** Changes of resources and of their list. */
export type Following = Required<Pick<ResourceSource, "subscribe" | "onListChange">>;

/** The sources of changes: files, jobs, processes and, for the list of manual pages, tools. */
export interface ChangeSources {
  readonly changes: FileChanges;
  readonly list: FileListSources;
  readonly confinement: Pick<Confinement, "toPath">;
  readonly jobs: Pick<Jobs, "events" | "get" | "ended">;
  readonly processes: Pick<Processes, "onOutput" | "output">;
}

/** For all clients together. */
const MAX_OPEN = 20_000;

const FILE = /^file:\/\/\//;
const OUTPUT = /^(stdout|stderr):(.+)$/;

/** Changes of the resources of this process. */
export function createFollowing(registry: Registry, call: CallFor, sources: ChangeSources): Following {
  let open = 0;
  /** Asks the tools on behalf of the subscriber; throws for resources that the subscriber may not read. */
  const isThere = async (uri: string, ctx: Asking) =>
    FILE.test(uri)
      ? couldBeRead(uri, ctx, call)
      : (await readResource(uri, ctx, call, registry)) !== undefined;
  const subscribe: Following["subscribe"] = async (uri, onChange, ctx) => {
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
  return {
    subscribe: (...given) => unlessNotThere(subscribe(...given)),
    onListChange: createOnListChange(registry, sources),
  };
}

/** Checks access with the smallest possible read. A file may not exist yet. */
async function couldBeRead(uri: string, ctx: Asking, call: CallFor): Promise<boolean> {
  try {
    await call(ctx, "fs", "read", { uri, max_bytes: 1 });
  } catch (cause) {
    if (!(cause instanceof ToolError && MAY_BECOME_READABLE.has(cause.code))) throw cause;
  }
  return true;
}

/** The resource may become readable later, or is readable in parts. */
const MAY_BECOME_READABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["NOT_FOUND", "TOO_LARGE"]);

async function follow(
  uri: string,
  onChange: () => void,
  owner: string,
  { changes, confinement, jobs, processes }: ChangeSources,
): Promise<() => void> {
  if (FILE.test(uri)) return changes.subscribe(confinement.toPath(uri), onChange);
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

const PAUSE_MS = 1_000;

/** Calls back at most once a second. Files are watched only while there are subscribers. */
function createOnListChange(registry: Registry, { list, jobs }: ChangeSources): Following["onListChange"] {
  const fileChanges = createTopic<void>({ maxEvents: 0 });
  let stopFiles: (() => void) | undefined;
  return (listener, { caller }) => {
    const { notify, stop } = debounce(listener);
    const stops = [
      stop,
      fileChanges.listen(notify),
      registry.changes.listen(notify),
      jobs.events.listen(({ value }) => value.type === "start" && value.owner === caller.id && notify()),
    ];
    stopFiles ??= followFileList(list, () => fileChanges.publish());
    return () => {
      for (const one of stops) one();
      if (fileChanges.listenerCount > 0) return;
      stopFiles?.();
      stopFiles = undefined;
    };
  };
}

function debounce(listener: () => void) {
  let notifiedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const notify = () => {
    timer ??= setTimeout(
      () => {
        timer = undefined;
        notifiedAt = performance.now();
        listener();
      },
      Math.max(0, notifiedAt + PAUSE_MS - performance.now()),
    ).unref();
  };
  return { notify, stop: () => clearTimeout(timer) };
}
