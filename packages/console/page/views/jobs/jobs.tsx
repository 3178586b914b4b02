import { useEffect, useState } from "preact/hooks";
import { ofEach, useLoad, usePage } from "../../data/context.ts";
import type { CommandView, JobView } from "../../data/tool-data.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge, Dot } from "../../parts/badge.tsx";
import { Segments } from "../../parts/choices.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { ViewHead } from "../../parts/view-head.tsx";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { useKeys } from "../../shell/use-keys.ts";
import { Foreign } from "../../text/foreign.tsx";
import { counted, toDuration } from "../../text/format.ts";
import { CommandDetail, durationOf } from "./command-detail.tsx";
import { JobDetail } from "./job-detail.tsx";
import { STATE_TONES } from "./state-tones.ts";
import "./jobs.css";

const KINDS = [
  ["jobs", "Jobs"],
  ["commands", "Commands"],
] as const;

const ROW_HEIGHT = 52;
/** Of each process, the newest. */
const MAX_ROWS = 500;
/** Events come in bursts; the lists are read again at most this often. */
const QUIET_MS = 300;

interface Found {
  readonly process: string;
  /** Other processes that list it too. Only the one that runs it can take input for it. */
  readonly others: readonly string[];
}

type Row =
  | ({ readonly kind: "job" } & JobView & Found)
  | ({ readonly kind: "command" } & CommandView & Found);

/** Background work and commands of all processes. */
export function JobsView() {
  const { store, router } = usePage();
  const { item, query } = router.route.value;
  const kind = query["kind"] === "commands" ? "commands" : "jobs";
  const processes = (store.processes.value ?? [])
    .filter(({ state, roots }) => state !== "silent" && roots.length > 0)
    // The console itself seldom runs anything.
    .sort((a, b) => Number(a.command === "console") - Number(b.command === "console"));
  const [seen, setSeen] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const touch = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        setSeen((count) => count + 1);
      }, QUIET_MS);
    };
    const stops = [
      store.on("jobs", ({ event }) => event.event === "job_state" && touch()),
      store.on("processes", ({ event }) => event.type !== "output" && touch()),
    ];
    return () => {
      clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, []);
  const { data, error, reload } = useLoad(
    store.processes.value && kind,
    async (signal) => {
      const all = await ofEach(processes, async (process): Promise<readonly Row[]> => {
        const read = <T extends object>(name: string) =>
          store.api.data<T>(process, name, { limit: MAX_ROWS }, signal);
        if (kind === "jobs") {
          const { jobs } = await read<{ jobs: readonly JobView[] }>("job.list");
          return jobs.map((job) => ({ ...job, kind: "job", process, others: [] }));
        }
        const { processes: commands } = await read<{ processes: readonly CommandView[] }>("proc.ps");
        return commands.map((command) => ({ ...command, kind: "command", process, others: [] }));
      });
      return unique(all);
    },
    `${processes.map(({ id }) => id).join()} ${seen}`,
  );
  const rows = data ?? [];
  const [cursor, setCursor] = useState<string>();
  const chosen = rows.find((row) => idOf(row) === item);
  useKeys({ Escape: { run: () => router.go("jobs", undefined, { kind }) } });
  return (
    <>
      <ViewHead
        title="Jobs and processes"
        detail={data && counted(rows.length, kind === "jobs" ? "job" : "command")}
      >
        <Segments
          label="Kind"
          value={kind}
          options={KINDS}
          onChange={(next) => router.go("jobs", undefined, { kind: next })}
        />
      </ViewHead>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {!data && error === undefined && <Loading />}
      {data && (
        <div class={item === undefined ? "view-body split-list" : "view-body split-list has-item"}>
          {rows.length === 0 ? (
            <Nothing kind={kind} />
          ) : (
            <div class="session-list">
              <VirtualList
                label={kind === "jobs" ? "Jobs, newest first" : "Commands, newest first"}
                count={rows.length}
                rowHeight={ROW_HEIGHT}
                selected={rows.findIndex((row) => idOf(row) === (cursor ?? item))}
                keyOf={(index) => (rows[index] ? idOf(rows[index]) : index)}
                onSelect={(index) => setCursor(rows[index] && idOf(rows[index]))}
                onOpen={(index) =>
                  rows[index] && router.go("jobs", idOf(rows[index]), { kind, process: rows[index].process })
                }
                row={(index) =>
                  rows[index] && <Line row={rows[index]} isCurrent={idOf(rows[index]) === item} />
                }
              />
            </div>
          )}
          {chosen?.kind === "job" && (
            <JobDetail key={item} job={chosen} processes={[chosen.process, ...chosen.others]} />
          )}
          {chosen?.kind === "command" && (
            <CommandDetail
              key={item}
              command={chosen}
              processes={[chosen.process, ...chosen.others]}
              onChanged={reload}
            />
          )}
          {item !== undefined && !chosen && (
            <Problem error="It is no longer stored; finished work is kept for a day." />
          )}
        </div>
      )}
    </>
  );
}

const idOf = (row: Row): string => (row.kind === "job" ? row.job_id : row.proc_id);

/** Processes of the same folder share their jobs. Only the one that runs a job knows its progress. */
function unique(rows: readonly Row[]): readonly Row[] {
  const byId = Map.groupBy(rows, idOf);
  const merged = [...byId.values()].map((same) => {
    const [first, ...others] = same.toSorted((a, b) => newsOf(b) - newsOf(a));
    return { ...(first as Row), others: others.map(({ process }) => process) };
  });
  const time = (row: Row) => (row.kind === "job" ? Date.parse(row.created_at) : row.started_at);
  return merged.sort((a, b) => time(b) - time(a));
}

const newsOf = (row: Row): number => (row.kind === "job" ? Date.parse(row.updated_at) : 0);

function Line({ row, isCurrent }: { readonly row: Row; readonly isCurrent: boolean }) {
  const { store } = usePage();
  const state = row.kind === "job" ? row.state : row.status;
  const isBad = row.kind === "command" && row.status === "exited" && row.exit_code !== 0;
  return (
    <div class={isCurrent ? "session-line current" : "session-line"}>
      <Dot tone={isBad ? "bad" : (STATE_TONES[state] ?? "plain")} moving={state === "running"} />
      <span class="roster-main">
        <span class="roster-title">
          <Foreign text={row.kind === "job" ? `${row.tool}.${row.action}` : row.command} oneLine />
          <Ago at={row.kind === "job" ? row.created_at : row.started_at} />
        </span>
        <span class="roster-detail">
          {row.kind === "job" ? (
            <Foreign text={[row.state, row.progress?.message].filter(Boolean).join("  ·  ")} oneLine />
          ) : (
            <Foreign
              text={`${row.status}${row.exit_code === null ? "" : ` with ${row.exit_code}`}  ·  ${toDuration(durationOf(row, store.now.value))}`}
              oneLine
            />
          )}
        </span>
      </span>
      {row.kind === "job" && row.progress?.total !== undefined && row.state === "running" && (
        <Badge tone="accent">{Math.round((100 * row.progress.progress) / row.progress.total)} %</Badge>
      )}
    </div>
  );
}

function Nothing({ kind }: { readonly kind: "jobs" | "commands" }) {
  if (kind === "jobs")
    return (
      <Empty icon="jobs" title="No jobs" command="octant call test.run">
        Long calls become jobs: test runs, indexing, builds. Start one from a terminal:
      </Empty>
    );
  return (
    <Empty
      icon="jobs"
      title="No commands"
      command="octant call proc.exec command='npm run build' background=true"
    >
      Commands that agents start appear here with their output. Start one from a terminal:
    </Empty>
  );
}
