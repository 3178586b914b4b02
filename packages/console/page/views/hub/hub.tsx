import { useLoad, usePage } from "../../data/context.ts";
import { Empty, Loading, Problem, Tabs, ViewHead } from "../../parts/parts.tsx";
import { toVisible } from "../../text/visible.ts";
import { Limits } from "./limits.tsx";
import { ResourceTable } from "./resource-table.tsx";
import { Schedules } from "./schedules.tsx";

const HUB = "hub";

const PARTS = [
  ["projects", "Projects"],
  ["sessions", "Sessions"],
  ["containers", "Containers"],
  ["workspaces", "Workspaces"],
  ["schedules", "Schedules"],
  ["tokens", "Tokens"],
  ["hosts", "Hosts"],
  ["limits", "Limits"],
] as const;
type Part = (typeof PARTS)[number][0];

interface Project {
  readonly project_id: string;
  readonly name: string;
}

/** The hub: projects of many people and what runs in them. */
export function HubView() {
  const { store, router } = usePage();
  const { item, query } = router.route.value;
  const part = PARTS.find(([one]) => one === item)?.[0] ?? "projects";
  const { data, error, reload } = useLoad(store.me.value?.hub ? "hub projects" : undefined, (signal) =>
    store.api.data<{ projects: readonly Project[] }>(HUB, "project.list", {}, signal),
  );
  if (store.me.value && !store.me.value.hub)
    return (
      <>
        <ViewHead title="Hub" />
        <Empty icon="hub" title="This console has no hub" command="octant hub">
          A hub runs agents in containers for many people. Start one, and open its console:
        </Empty>
      </>
    );
  const projects = data?.projects ?? [];
  const project = projects.find(({ project_id }) => project_id === query["project"]) ?? projects[0];
  const table = (name: string, icon: string, what: string, input: object = {}) => (
    <ResourceTable
      key={`${part}${project?.project_id}`}
      process={HUB}
      action={name}
      input={input}
      title={what}
      icon={icon}
    />
  );
  const ofProject = { project_id: project?.project_id };
  return (
    <>
      <ViewHead title="Hub">
        {projects.length > 1 && (
          <select
            class="select"
            aria-label="Project"
            value={project?.project_id}
            onChange={({ currentTarget }) => router.filter({ project: currentTarget.value })}
          >
            {projects.map(({ project_id, name }) => (
              <option key={project_id} value={project_id}>
                {toVisible(name)}
              </option>
            ))}
          </select>
        )}
      </ViewHead>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {!data && error === undefined && <Loading />}
      {data && (
        <Tabs<Part>
          label="Parts of the hub"
          value={part}
          options={PARTS}
          onChange={(next) => router.go("hub", next, { project: query["project"] })}
        >
          {part === "projects" && table("project.list", "hub", "projects")}
          {part === "tokens" && table("token.list", "approvals", "tokens")}
          {part === "hosts" && table("host.list", "hub", "hosts")}
          {part === "limits" && <Limits />}
          {project && part === "sessions" && table("session.list", "sessions", "sessions", ofProject)}
          {project && part === "containers" && table("container.list", "hub", "containers", ofProject)}
          {project && part === "workspaces" && table("workspace.list", "files", "workspaces", ofProject)}
          {project && part === "schedules" && (
            <Schedules key={project.project_id} project={project.project_id} />
          )}
          {!project && ["sessions", "containers", "workspaces", "schedules"].includes(part) && (
            <Empty
              icon="hub"
              title="No project yet"
              command="octant call project.create name=calculator folder=/srv/calculator"
            >
              Create a project first:
            </Empty>
          )}
        </Tabs>
      )}
    </>
  );
}
