import { usePage } from "../../data/context.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Empty } from "../../parts/empty.tsx";
import { toHash } from "../../shell/route.ts";
import { Foreign } from "../../text/foreign.tsx";
import { counted, toCost } from "../../text/format.ts";
import type { HubSession, Workspace } from "./hub-data.ts";
import { HubSessionDetail } from "./hub-session.tsx";
import { ResourceTable } from "./resource-table.tsx";
import { Shown } from "./shown.tsx";
import { useHub } from "./use-hub.ts";

const TONES: Readonly<Record<HubSession["state"], Tone>> = {
  working: "accent",
  idle: "good",
  ended: "plain",
};

/** The agents at work in a project, and those that have been. */
export function Sessions({ project_id }: { readonly project_id: string }) {
  const { router } = usePage();
  const sessions = useHub<{ sessions: readonly HubSession[]; total: number }>("session.list", { project_id });
  const workspaces = useHub<{ workspaces: readonly Workspace[] }>("workspace.list", { project_id });
  const nameOf = (id: string) =>
    workspaces.data?.workspaces.find(({ workspace_id }) => workspace_id === id)?.name ?? id;
  const chosen = router.route.value.query["session"];
  const session = sessions.data?.sessions.find(({ session_id }) => session_id === chosen);
  if (session)
    return (
      <HubSessionDetail
        key={session.session_id}
        session={session}
        project_id={project_id}
        workspace={nameOf(session.workspace_id)}
      />
    );
  return (
    <Shown loaded={sessions}>
      {({ sessions: all, total }) =>
        all.length === 0 ? (
          <Empty
            icon="sessions"
            title="No sessions in this project"
            command={`octant call --via $HUB session.spawn project_id=${project_id} message="Make npm test pass."`}
          >
            A session is an agent at work in a workspace of its own. Start one in a terminal:
          </Empty>
        ) : (
          <>
            <ResourceTable
              label="Sessions"
              rows={all}
              keyOf={({ session_id }) => session_id}
              columns={[
                {
                  title: "State",
                  cell: ({ state, outcome }) => (
                    <Badge tone={outcome === "failed" || outcome === "error" ? "bad" : TONES[state]}>
                      {outcome && state !== "working" ? `${state}, ${outcome}` : state}
                    </Badge>
                  ),
                },
                {
                  title: "Workspace",
                  cell: ({ session_id, workspace_id }) => (
                    <a
                      class="strong"
                      href={toHash("hub", "sessions", { project: project_id, session: session_id })}
                    >
                      <Foreign text={nameOf(workspace_id)} />
                    </a>
                  ),
                },
                { title: "Model", cell: ({ model }) => <Foreign text={model ?? "default"} /> },
                { title: "Problem", cell: ({ problem }) => <Foreign text={problem ?? "–"} /> },
                { title: "Unread", isNumber: true, cell: ({ queued }) => queued },
                { title: "Cost", isNumber: true, cell: ({ cost }) => toCost(cost) },
                {
                  title: "Changed",
                  isNumber: true,
                  cell: ({ updated_at }) => <Ago at={updated_at} inWords />,
                },
              ]}
            />
            {total > all.length && (
              <p class="part-note calm">{counted(total - all.length, "older session")} not shown</p>
            )}
          </>
        )
      }
    </Shown>
  );
}
