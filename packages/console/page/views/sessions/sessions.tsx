import type { OctantProcess } from "../../../src/api.ts";
import { ofEach, useLoad, usePage } from "../../data/context.ts";
import { isCallable, isHub } from "../../data/roster.ts";
import { Empty } from "../../parts/empty.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { ViewHead } from "../../parts/view-head.tsx";
import { counted } from "../../text/format.ts";
import { SessionDetail } from "./session-detail.tsx";
import { SessionList } from "./session-list.tsx";
import { subAgentsOf, type TreeRow, toTree } from "./session-tree.ts";
import { StartSession } from "./start-session.tsx";
import "./sessions.css";

/** The agent's sessions of all projects, and one of them in full. */
export function SessionsView() {
  const { store, router } = usePage();
  const { item, query } = router.route.value;
  const readers = oneOfEachFolder(store.processes.value ?? []);
  const open = (store.processes.value ?? []).flatMap(({ sessions }) =>
    sessions.map(({ session_id, state }) => `${session_id}:${state}`),
  );
  const { data, error, reload } = useLoad(
    store.processes.value && "sessions",
    async (signal) => {
      const all = await ofEach(readers, async (process) => {
        const { sessions } = await store.api.person(process, "sessions", { limit: 1_000 }, signal);
        return sessions.map((session) => ({ ...session, process }));
      });
      return all.toSorted((a, b) => b.updated_at.localeCompare(a.updated_at));
    },
    `${readers.map(({ id }) => id).join()} ${open.join()}`,
  );
  const rows = toTree(data ?? [], query["q"]);
  const chosen = data?.find(({ session_id }) => session_id === item);
  return (
    <>
      <ViewHead title="Sessions" detail={data && counted(data.length, "session")}>
        <SearchField label="Search sessions" value={query["q"] ?? ""} onInput={(q) => router.filter({ q })} />
        <button
          type="button"
          class="button primary"
          disabled={store.me.value?.access === "read"}
          onClick={() => router.filter({ new: "1" })}
        >
          <Icon name="plus" />
          New session
        </button>
      </ViewHead>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {!data && error === undefined && <Loading />}
      {data && (
        <div class={item === undefined ? "view-body split-list" : "view-body split-list has-item"}>
          {data.length === 0 && item === undefined ? (
            <Empty icon="sessions" title="No sessions yet" command='octant run "explain this project"'>
              Start one here, or in a terminal in your project:
            </Empty>
          ) : (
            <SessionList rows={rows} current={item} />
          )}
          {item !== undefined && (
            <SessionDetail
              key={item}
              id={item}
              row={chosen}
              subAgents={subAgentsOf(data, item)}
              process={processOf(store.processes.value ?? [], item, chosen, query["process"])}
              onChanged={reload}
            />
          )}
        </div>
      )}
      {data && query["new"] && (
        <StartSession sessions={data} onClose={() => router.filter({ new: undefined })} />
      )}
    </>
  );
}

/** Processes of the same folder see the same sessions. */
function oneOfEachFolder(processes: readonly OctantProcess[]): readonly OctantProcess[] {
  const byRoot = new Map<string, OctantProcess>();
  for (const process of processes)
    if (isReader(process) && process.roots[0] !== undefined && !byRoot.has(process.roots[0]))
      byRoot.set(process.roots[0], process);
  return [...byRoot.values()];
}

/** Sessions of a hub are in its own console. */
const isReader = (process: OctantProcess): boolean =>
  process.state !== "silent" && !isHub(process) && isCallable(process);

/** The process in which the session is open; else one that can read it. */
function processOf(
  processes: readonly OctantProcess[],
  id: string,
  row: TreeRow["session"] | undefined,
  named: string | undefined,
): string | undefined {
  const open = processes.find(({ sessions }) => sessions.some(({ session_id }) => session_id === id));
  return open?.id ?? row?.process ?? named ?? processes[0]?.id;
}
