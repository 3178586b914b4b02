import { useEffect, useState } from "preact/hooks";
import { useLoad, usePage } from "../../data/context.ts";
import type { JobView, TestRun } from "../../data/tool-data.ts";
import { Icon } from "../../parts/icon.tsx";
import { Badge, Json, Loading, Problem } from "../../parts/parts.tsx";
import { Foreign } from "../../text/foreign.tsx";
import { toDuration } from "../../text/format.ts";
import { TestResults } from "./test-results.tsx";

interface Polled {
  readonly job: JobView;
  readonly result?: unknown;
  readonly events?: readonly { readonly seq: number; readonly type: string; readonly chunk?: unknown }[];
}

const MAX_LINES = 5_000;

/** One job: its state, progress, log and result. */
export function JobDetail({ job, process }: { readonly job: JobView; readonly process: string }) {
  const { store } = usePage();
  const { data, error, reload } = useLoad(
    `${process} ${job.job_id}`,
    (signal) =>
      store.api.data<Polled>(process, "job.poll", { job_id: job.job_id, from_seq: 0, wait: 0 }, signal),
    job.state,
  );
  const [live, setLive] = useState<readonly string[]>([]);
  useEffect(
    () =>
      store.on("jobs", ({ event }) => {
        if (event.event !== "stream_chunk" || event.job_id !== job.job_id) return;
        const line = lineOf(event.chunk);
        if (line !== undefined) setLive((lines) => [...lines.slice(1 - MAX_LINES), line]);
      }),
    [job.job_id],
  );
  const stored = (data?.events ?? []).map(({ chunk }) => lineOf(chunk)).filter((line) => line !== undefined);
  const lines = live.length > stored.length ? live : stored;
  // The list may be newer than what was read of the job.
  const current = data && data.job.updated_at >= job.updated_at ? data.job : job;
  const isRunning = current.state === "running" || current.state === "queued";
  const cancel = () =>
    store.api
      .data(process, "job.cancel", { job_id: job.job_id })
      .then(() => store.say("Cancelled."), store.fail);
  const { progress } = current;
  return (
    <article class="session" aria-label="Job">
      <header class="session-head">
        <div class="session-title">
          <a class="button icon-only quiet phone-only" href="#/jobs" aria-label="Back to the list">
            <Icon name="back" />
          </a>
          <h2>
            <Foreign text={`${current.tool}.${current.action}`} oneLine />
          </h2>
        </div>
        <p class="session-facts number">
          <Badge tone={current.state === "failed" ? "bad" : current.state === "complete" ? "good" : "accent"}>
            {current.state}
          </Badge>
          <span>
            {toDuration(
              (isRunning ? store.now.value : Date.parse(current.updated_at)) - Date.parse(current.created_at),
            )}
          </span>
          <Foreign text={current.job_id} oneLine />
        </p>
        <div class="session-actions">
          {isRunning && (
            <button
              type="button"
              class="button danger"
              disabled={store.me.value?.access === "read"}
              onClick={cancel}
            >
              <Icon name="stop" />
              Cancel
            </button>
          )}
        </div>
      </header>
      <div class="detail-body">
        {isRunning && progress && (
          <div class="progress">
            <progress
              max={progress.total ?? 1}
              {...(progress.total === undefined ? {} : { value: progress.progress })}
              aria-label="Progress"
            />
            <p class="calm">
              <Foreign text={progress.message ?? ""} oneLine />
            </p>
          </div>
        )}
        {error !== undefined && <Problem error={error} retry={reload} />}
        {!data && error === undefined && <Loading />}
        {data && <Result job={current} result={data.result} lines={lines} process={process} />}
      </div>
    </article>
  );
}

function Result({
  job,
  result,
  lines,
  process,
}: {
  readonly job: JobView;
  readonly result: unknown;
  readonly lines: readonly string[];
  readonly process: string;
}) {
  const { data, error } = Object(result);
  if (job.tool === "test" && job.action === "run")
    return <TestResults run={data as TestRun | undefined} error={error} lines={lines} process={process} />;
  return (
    <>
      {lines.length > 0 && (
        <pre class="code" tabIndex={0} role="log" aria-label="Log">
          <Foreign text={lines.join("\n")} />
        </pre>
      )}
      {result !== undefined && result !== null && <Json label="Result" value={result} />}
    </>
  );
}

function lineOf(chunk: unknown): string | undefined {
  const { kind, line, text } = Object(chunk);
  if (kind === "log") return String(line);
  if (kind === "text") return String(text);
  return undefined;
}
