import { Badge } from "../../parts/badge.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Foreign } from "../../text/foreign.tsx";
import type { HubOptions } from "./hub-data.ts";
import { ResourceTable } from "./resource-table.tsx";
import { Shown } from "./shown.tsx";
import { useHub } from "./use-hub.ts";

/** The machines on which containers run. */
export function Hosts() {
  const loaded = useHub<HubOptions>("project.options");
  return (
    <Shown loaded={loaded}>
      {({ engine, hosts }) => (
        <>
          <p class="part-note engine">
            <Badge tone={engine.available ? "good" : "bad"}>{engine.name}</Badge>{" "}
            <Foreign text={engine.detail} />
          </p>
          {hosts.length === 0 ? (
            <Empty icon="hub" title="No host holds work now" command="octant host --nats nats://…">
              Hosts take work from the queue when there is some. Add a machine:
            </Empty>
          ) : (
            <ResourceTable
              label="Hosts"
              rows={hosts}
              keyOf={({ name }) => name}
              columns={[
                { title: "Host", cell: ({ name }) => <Foreign text={name} /> },
                { title: "Workspaces", isNumber: true, cell: ({ workspaces }) => workspaces },
              ]}
            />
          )}
        </>
      )}
    </Shown>
  );
}
