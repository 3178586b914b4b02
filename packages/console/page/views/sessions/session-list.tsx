import { usePage } from "../../data/context.ts";
import { Ago } from "../../parts/ago.tsx";
import { Dot } from "../../parts/badge.tsx";
import { Empty } from "../../parts/empty.tsx";
import { useCursor } from "../../parts/use-cursor.ts";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { Foreign } from "../../text/foreign.tsx";
import { baseOf, counted, toCost } from "../../text/format.ts";
import type { TreeRow } from "./session-tree.ts";

const ROW_HEIGHT = 56;

interface Props {
  readonly rows: readonly TreeRow[];
  readonly current: string | undefined;
}

export function SessionList({ rows, current }: Props) {
  const { router } = usePage();
  const [cursor, setCursor] = useCursor(current);
  const { query } = router.route.value;
  if (rows.length === 0)
    return (
      <Empty icon="search" title="No session matches">
        Words are looked for in titles, models, folders and changed files.
      </Empty>
    );
  const selected = rows.findIndex(({ session }) => session.session_id === cursor);
  return (
    <div class="session-list">
      <VirtualList
        label="Sessions, newest first"
        count={rows.length}
        rowHeight={ROW_HEIGHT}
        selected={selected}
        keyOf={(i) => rows[i]?.session.session_id ?? i}
        onSelect={(i) => setCursor(rows[i]?.session.session_id)}
        onOpen={(i) =>
          router.go("sessions", rows[i]?.session.session_id, {
            q: query["q"],
            process: rows[i]?.session.process,
          })
        }
        row={(i) => {
          const row = rows[i];
          return row && <SessionLine row={row} isCurrent={row.session.session_id === current} />;
        }}
      />
    </div>
  );
}

const STATES = { working: "accent", waiting: "warn", idle: "good", stored: "plain" } as const;

function SessionLine({
  row: { session, depth },
  isCurrent,
}: {
  readonly row: TreeRow;
  readonly isCurrent: boolean;
}) {
  const { store } = usePage();
  const open = (store.processes.value ?? [])
    .flatMap(({ sessions }) => sessions)
    .find(({ session_id }) => session_id === session.session_id);
  const state = open?.state ?? "stored";
  return (
    <div
      class={isCurrent ? "session-line current" : "session-line"}
      style={{ paddingLeft: `${16 + depth * 20}px` }}
    >
      <Dot tone={session.ended === "failed" ? "bad" : STATES[state]} moving={state === "working"} />
      <span class="roster-main">
        <span class="roster-title">
          <Foreign text={session.title || "Untitled session"} oneLine />
          <Ago at={session.updated_at} />
        </span>
        <span class="roster-detail">
          <Foreign
            text={[
              ...(session.parent?.kind === "fork" ? ["copy"] : []),
              baseOf(session.cwd),
              session.model,
              counted(session.turns, "turn"),
              toCost(session.cost),
            ].join("  ·  ")}
            oneLine
          />
        </span>
      </span>
    </div>
  );
}
