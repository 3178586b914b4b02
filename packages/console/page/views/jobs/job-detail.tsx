import { useState } from "preact/hooks";
import { usePage } from "../../data/context.ts";
import type { JobView, TestRun } from "../../data/tool-data.ts";
import { BackTitle } from "../../parts/back-title.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Detail } from "../../parts/detail.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Json } from "../../parts/json.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Foreign } from "../../text/foreign.tsx";
import { toDuration } from "../../text/format.ts";
import { outcomeOf, titleOf } from "./job-rows.ts";
import { TestResults } from "./test-results.tsx";
import { useJob } from "./use-job.ts";

interface Props {
  readonly job: JobView;
  /** The processes that list the job; one of them runs it and has its log. */
  readonly processes: readonly string[];
}

/** One job: its state, progress, log and result. */
export function JobDetail({ job, processes }: Props) {
  const { store } = usePage();
  const { polled, lines, error } = useJob(job.job_id, processes);
  const [isCancelling, setCancelling] = useState(false);
  // The list may be newer than the data of the job.
  const current = polled && polled.job.updated_at >= job.updated_at ? polled.job : job;
  const isRunning = isUnfinished(current);
  const cancel = async () => {
    setCancelling(true);
    try {
      const input = { job_id: job.job_id };
      const cancelled = await store.api.data<{ job: JobView }>(processes[0] ?? "", "job.cancel", input);
      store.say(
        isUnfinished(cancelled.job) ? "The work was asked to stop, and has not ended yet." : "Cancelled.",
      );
    } catch (cause) {
      store.fail(cause);
    } finally {
      setCancelling(false);
    }
  };
  const { progress } = current;
  const shown = { ...current, kind: "job" as const, process: processes[0] ?? "", others: [] };
  const title = titleOf(shown);
  const outcome = outcomeOf(shown);
  return (
    <Detail class="session" label="Job">
      <header class="session-head">
        <BackTitle list="#/jobs" text={title} />
        <p class="session-facts number">
          <Badge tone={outcome.tone}>{outcome.text}</Badge>
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
              disabled={isCancelling || store.me.value?.access === "read"}
              onClick={cancel}
            >
              <Icon name="stop" />
              {isCancelling ? "Cancelling" : "Cancel"}
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
        {error !== undefined && <Problem error={error} />}
        {!polled && error === undefined && <Loading />}
        {polled && <Result job={current} result={polled.result} lines={lines} process={processes[0] ?? ""} />}
      </div>
    </Detail>
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
      {result !== undefined && result !== null ? (
        <Json label="Result" value={result} />
      ) : (
        !isUnfinished(job) && (
          <p class="calm">
            Its result went to its caller and was not stored. Live shows the call while a console is open.
          </p>
        )
      )}
    </>
  );
}

const isUnfinished = ({ state }: JobView): boolean => state === "running" || state === "queued";
