import { Ago } from "../../parts/ago.tsx";
import { Empty } from "../../parts/empty.tsx";
import { toHash } from "../../shell/route.ts";
import { Foreign } from "../../text/foreign.tsx";
import type { Project } from "./hub-data.ts";
import { ResourceTable } from "./resource-table.tsx";

export function Projects({ projects }: { readonly projects: readonly Project[] }) {
  if (projects.length === 0) return <NoProject />;
  return (
    <ResourceTable
      label="Projects"
      rows={projects}
      keyOf={({ project_id }) => project_id}
      columns={[
        {
          title: "Project",
          cell: ({ project_id, name }) => (
            <a class="strong" href={toHash("hub", "sessions", { project: project_id })}>
              <Foreign text={name} />
            </a>
          ),
        },
        {
          title: "Source",
          cell: ({ source_url, folder }) => <Foreign text={source_url ?? folder ?? "started empty"} />,
        },
        { title: "Branch", cell: ({ branch }) => <Foreign text={branch ?? "default"} /> },
        { title: "Model", cell: ({ model }) => <Foreign text={model ?? "default"} /> },
        { title: "Description", cell: ({ description }) => <Foreign text={description ?? "–"} /> },
        { title: "Created", cell: ({ created_at }) => <Ago at={created_at} inWords /> },
      ]}
    />
  );
}

export const NoProject = () => (
  <Empty
    icon="hub"
    title="No project yet"
    command="octant call --via $HUB project.create name=calculator folder=/srv/calculator"
  >
    A project is a repository in which agents work. Create one in a terminal, with the address and the token
    that octant hub printed:
  </Empty>
);
