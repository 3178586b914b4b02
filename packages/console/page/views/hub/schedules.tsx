import { useLoad, usePage } from "../../data/context.ts";
import { Foreign } from "../../text/foreign.tsx";
import { ResourceTable } from "./resource-table.tsx";
import { rowsOf } from "./table-of.ts";
import { toWeek } from "./week.ts";

/** The schedules of a project, and when they run in the next seven days. */
export function Schedules({ project }: { readonly project: string }) {
  const { store } = usePage();
  const input = { project_id: project };
  const { data } = useLoad(`hub schedules ${project}`, (signal) =>
    store.api.data<Record<string, unknown>>("hub", "schedule.list", input, signal),
  );
  const week = toWeek(data ? rowsOf(data) : [], store.now.value);
  return (
    <>
      {data && (
        <ol class="week" aria-label="The next seven days">
          {week.map(({ day, runs }) => (
            <li key={day}>
              <h3>{day}</h3>
              {runs.map(({ at, name }, index) => (
                <p key={index} class="number">
                  {at} <Foreign text={name} oneLine />
                </p>
              ))}
            </li>
          ))}
        </ol>
      )}
      <ResourceTable process="hub" action="schedule.list" input={input} title="schedules" icon="hub" />
    </>
  );
}
