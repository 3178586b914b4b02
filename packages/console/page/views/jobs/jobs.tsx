import { useEffect, useState } from "preact/hooks";
import { Failed } from "../../data/api.ts";
import { ofEach, useLoad, usePage } from "../../data/context.ts";
import { hasTool, projectOf } from "../../data/roster.ts";
import type { CommandView, JobView } from "../../data/tool-data.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge, Dot } from "../../parts/badge.tsx";
import { Segments } from "../../parts/choices.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useCursor } from "../../parts/use-cursor.ts";
import { ViewHead } from "../../parts/view-head.tsx";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { useKeys } from "../../shell/use-keys.ts";
import { Foreign } from "../../text/foreign.tsx";
import { counted } from "../../text/format.ts";
import { CommandDetail } from "./command-detail.tsx";
import { JobDetail } from "./job-detail.tsx";
import { durationOf, idOf, outcomeOf, progressOf, type Row, startOf, titleOf, unique } from "./job-rows.ts";
import "./jobs.css";

const KINDS = [
  ["", "All"],
  ["commands", "Commands"],
  ["jobs", "Jobs"],
] as const;

const ROW_HEIGHT = 52;
/** The newest commands of each process. */
const MAX_ROWS = 500;
/** Events come in bursts; the lists are read again at most this often. */
const QUIET_MS = 300;

/** Background work and commands of all processes. */
export function JobsView() {
  const { store, router } = usePage();
  const { item, query } = router.route.value;
  const kind = KINDS.find(([name]) => name === query["kind"])?.[0] ?? "";
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
    store.processes.value && `jobs ${kind}`,
    async (signal) => {
      const all = await ofEach(processes, async (process): Promise<readonly Row[]> => {
        const has = (tool: string) => processes.some((one) => one.id === process && hasTool(one, tool));
        const read = <T extends object>(name: string) =>
          store.api.data<T>(process, name, { limit: MAX_ROWS }, signal);
        const [{ jobs }, { processes: commands }] = await Promise.all([
          kind !== "commands" && has("job") ? read<{ jobs: readonly JobView[] }>("job.list") : { jobs: [] },
          kind !== "jobs" && has("proc")
            ? read<{ processes: readonly CommandView[] }>("proc.ps")
            : { processes: [] },
        ]);
        return [
          ...jobs.map((job) => ({ ...job, kind: "job" as const, process, others: [] })),
          ...commands.map((command) => ({ ...command, kind: "command" as const, process, others: [] })),
        ];
      });
      return unique(all);
    },
    `${processes.map(({ id }) => id).join()} ${seen}`,
  );
  const rows = data ?? [];
  const [cursor, setCursor] = useCursor(item);
  const chosen = rows.find((row) => idOf(row) === item);
  useKeys({ Escape: { run: () => router.go("jobs", undefined, { kind }) } });
  return (
    <>
      <ViewHead title="Jobs and processes" detail={data && countOf(rows)}>
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
                label={kind === "commands" ? "Commands, newest first" : "Jobs, newest first"}
                count={rows.length}
                rowHeight={ROW_HEIGHT}
                selected={rows.findIndex((row) => idOf(row) === cursor)}
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
            <CommandDetail key={item} command={chosen} process={chosen.process} onChanged={reload} />
          )}
          {item !== undefined && !chosen && (
            <Problem
              error={new Failed("NOT_FOUND", "It is no longer stored; finished work is stored for a day.")}
            />
          )}
        </div>
      )}
    </>
  );
}

function Line({ row, isCurrent }: { readonly row: Row; readonly isCurrent: boolean }) {
  const { store } = usePage();
  const { text, tone } = outcomeOf(row);
  const process = store.processes.value?.find(({ id }) => id === row.process);
  const details = [
    text,
    row.kind === "job" ? progressOf(row) : durationOf(row, store.now.value),
    process && projectOf(process),
  ];
  return (
    <div class={isCurrent ? "session-line current" : "session-line"}>
      <Dot tone={tone} moving={text === "running"} />
      <span class="roster-main">
        <span class="roster-title">
          <Foreign text={titleOf(row)} oneLine />
          <Ago at={startOf(row)} />
        </span>
        <span class="roster-detail">
          <Foreign text={details.filter(Boolean).join("  ·  ")} oneLine />
        </span>
      </span>
      {row.kind === "job" && row.progress?.total !== undefined && row.state === "running" && (
        <Badge tone="accent">{Math.round((100 * row.progress.progress) / row.progress.total)} %</Badge>
      )}
    </div>
  );
}

function countOf(rows: readonly Row[]): string {
  const jobs = rows.filter((row) => row.kind === "job").length;
  const counts = [jobs > 0 && counted(jobs, "job"), counted(rows.length - jobs, "command")];
  return rows.length === jobs ? counted(jobs, "job") : counts.filter(Boolean).join(", ");
}

function Nothing({ kind }: { readonly kind: (typeof KINDS)[number][0] }) {
  if (kind !== "commands")
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
