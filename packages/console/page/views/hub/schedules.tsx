import { usePage } from "../../data/context.ts";
import { Badge } from "../../parts/badge.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Foreign } from "../../text/foreign.tsx";
import { counted, toMoment } from "../../text/format.ts";
import type { PlannedRun, Schedule } from "./hub-data.ts";
import { ResourceTable } from "./resource-table.tsx";
import { Shown } from "./shown.tsx";
import { useHub } from "./use-hub.ts";
import { toWeek } from "./week.ts";

/** The schedules of a project, and when they run in the next seven days. */
export function Schedules({ project_id }: { readonly project_id: string }) {
  const { store } = usePage();
  const loaded = useHub<{ schedules: readonly Schedule[] }>("schedule.list", { project_id });
  const planned = useHub<{ runs: readonly PlannedRun[] }>("schedule.upcoming", { project_id });
  return (
    <Shown loaded={loaded}>
      {({ schedules }) =>
        schedules.length === 0 ? (
          <Empty
            icon="hub"
            title="No schedules in this project"
            command={`octant call --via $HUB schedule.create project_id=${project_id} name=nightly cron="30 2 * * 1-5" message="Update the dependencies."`}
          >
            A schedule starts a session at set times. Create one in a terminal:
          </Empty>
        ) : (
          <>
            <Shown loaded={planned}>{({ runs }) => <Week schedules={schedules} runs={runs} />}</Shown>
            <ResourceTable
              label="Schedules"
              rows={schedules}
              keyOf={({ schedule_id }) => schedule_id}
              columns={[
                { title: "Schedule", cell: ({ name }) => <Foreign text={name} /> },
                {
                  title: "State",
                  cell: ({ enabled }) => (
                    <Badge tone={enabled ? "good" : "plain"}>{enabled ? "on" : "paused"}</Badge>
                  ),
                },
                {
                  title: "Times",
                  cell: ({ cron, time_zone }) => (
                    <>
                      <code>
                        <Foreign text={cron} />
                      </code>{" "}
                      <span class="calm">
                        <Foreign text={time_zone} />
                      </span>
                    </>
                  ),
                },
                { title: "Task", cell: ({ message }) => <Foreign text={message} /> },
                { title: "If one is at work", cell: ({ overlap }) => OVERLAPS[overlap] ?? overlap },
                {
                  title: "Next",
                  isNumber: true,
                  cell: ({ next_at }) =>
                    next_at ? (
                      <span title={next_at}>{toMoment(Date.parse(next_at), store.now.value)}</span>
                    ) : (
                      "–"
                    ),
                },
              ]}
            />
          </>
        )
      }
    </Shown>
  );
}

const OVERLAPS: Readonly<Record<string, string>> = {
  skip: "skip this run",
  queue: "wait for it",
  parallel: "start beside it",
};

const MAX_SHOWN = 5;

function Week({
  schedules,
  runs,
}: {
  readonly schedules: readonly Schedule[];
  readonly runs: readonly PlannedRun[];
}) {
  const { store } = usePage();
  const nameOf = (id: string) => schedules.find(({ schedule_id }) => schedule_id === id)?.name ?? id;
  return (
    <ol class="week" aria-label="The next seven days">
      {toWeek(runs, store.now.value).map(({ day, runs: planned }) => (
        <li key={day}>
          <h3>{day}</h3>
          {planned.slice(0, MAX_SHOWN).map(({ at, schedule_id }, index) => (
            <p key={index} class="planned number">
              <time>{at}</time> <Foreign text={nameOf(schedule_id)} oneLine />
            </p>
          ))}
          {planned.length > MAX_SHOWN && (
            <p class="calm">and {counted(planned.length - MAX_SHOWN, "more run")}</p>
          )}
        </li>
      ))}
    </ol>
  );
}
