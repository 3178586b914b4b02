import { Ago } from "../../parts/ago.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Foreign } from "../../text/foreign.tsx";
import type { Workspace } from "./hub-data.ts";
import { ResourceTable } from "./resource-table.tsx";
import { Shown } from "./shown.tsx";
import { useHub } from "./use-hub.ts";

const SHORT_COMMIT = 10;

/** The clones of a project in which its sessions work. */
export function Workspaces({ project_id }: { readonly project_id: string }) {
  const loaded = useHub<{ workspaces: readonly Workspace[] }>("workspace.list", { project_id });
  return (
    <Shown loaded={loaded}>
      {({ workspaces }) =>
        workspaces.length === 0 ? (
          <Empty icon="files" title="No workspaces in this project">
            Each session gets one, with a branch of its own. It stays until its work is merged or deleted.
          </Empty>
        ) : (
          <ResourceTable
            label="Workspaces"
            rows={workspaces}
            keyOf={({ workspace_id }) => workspace_id}
            columns={[
              { title: "Workspace", cell: ({ name }) => <Foreign text={name} /> },
              {
                title: "Branch",
                cell: ({ branch }) => (
                  <code>
                    <Foreign text={branch} />
                  </code>
                ),
              },
              {
                title: "Base",
                cell: ({ base }) => (
                  <code>
                    <Foreign text={base.slice(0, SHORT_COMMIT)} />
                  </code>
                ),
              },
              {
                title: "Last session",
                isNumber: true,
                cell: ({ last_session_at }) => (last_session_at ? <Ago at={last_session_at} inWords /> : "–"),
              },
              { title: "Created", isNumber: true, cell: ({ created_at }) => <Ago at={created_at} inWords /> },
            ]}
          />
        )
      }
    </Shown>
  );
}
