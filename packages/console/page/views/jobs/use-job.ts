import { useEffect, useState } from "preact/hooks";
import { usePage } from "../../data/context.ts";
import { nextEvent } from "../../data/next-event.ts";
import type { JobView } from "../../data/tool-data.ts";

const MAX_LINES = 5_000;

interface Polled {
  readonly job: JobView;
  readonly result?: unknown;
  readonly events?: readonly { readonly chunk?: unknown }[];
  readonly next_seq: number;
}

interface Followed {
  readonly polled?: Polled;
  readonly lines: readonly string[];
  readonly error?: unknown;
}

/** A job with its log from the beginning, and what follows while it is shown. `processes` are all that list it. */
export function useJob(job_id: string, processes: readonly string[]): Followed {
  const { store } = usePage();
  const [followed, setFollowed] = useState<Followed>({ lines: [] });
  useEffect(() => {
    const ended = new AbortController();
    const { signal } = ended;
    const poll = (process: string, from_seq: number) =>
      store.api.data<Polled>(process, "job.poll", { job_id, from_seq, wait: 0 }, signal);
    const follow = async () => {
      const process = await findRunner(processes, (one) => poll(one, 0));
      let lines: readonly string[] = [];
      for (let from = 0; !signal.aborted; ) {
        const next = nextEvent(store, "jobs", ({ event }) => event.job_id === job_id, signal);
        const polled = await poll(process, from);
        const added = (polled.events ?? []).flatMap(({ chunk }) => lineOf(chunk) ?? []);
        lines = [...lines, ...added].slice(-MAX_LINES);
        setFollowed({ polled, lines });
        const hasMore = (polled.events ?? []).length > 0;
        from = polled.next_seq;
        if (hasMore) continue;
        if (polled.job.state !== "running" && polled.job.state !== "queued") return;
        await next;
      }
    };
    follow().catch((error: unknown) => {
      if (!signal.aborted) setFollowed((before) => ({ ...before, error }));
    });
    return () => ended.abort();
  }, [job_id, processes.join(), store.generation.value]);
  return followed;
}

/** The process that runs a job has its events; the others only read its state. */
async function findRunner(
  processes: readonly string[],
  poll: (process: string) => Promise<Polled>,
): Promise<string> {
  for (const process of processes) {
    const polled = await poll(process).catch(() => undefined);
    if ((polled?.events ?? []).length > 0) return process;
  }
  return processes[0] ?? "";
}

function lineOf(chunk: unknown): string | undefined {
  const { kind, line, text } = Object(chunk);
  if (kind === "log") return String(line);
  if (kind === "text") return String(text);
  return undefined;
}
