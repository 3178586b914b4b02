import { usePage } from "../../data/context.ts";
import { isHub } from "../../data/roster.ts";
import { Tabs } from "../../parts/choices.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ViewHead } from "../../parts/view-head.tsx";
import { counted } from "../../text/format.ts";
import { toVisible } from "../../text/visible.ts";
import { Containers } from "./containers.tsx";
import { Hosts } from "./hosts.tsx";
import type { Project } from "./hub-data.ts";
import { Limits } from "./limits.tsx";
import { NoProject, Projects } from "./projects.tsx";
import { Schedules } from "./schedules.tsx";
import { Sessions } from "./sessions.tsx";
import { Shown } from "./shown.tsx";
import { Tokens } from "./tokens.tsx";
import { useHub } from "./use-hub.ts";
import { Workspaces } from "./workspaces.tsx";
import "./hub.css";

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

/** The parts that show one project. */
const OF_A_PROJECT: readonly Part[] = ["sessions", "workspaces", "schedules", "limits"];
/** The parts that concern the whole hub; a token of one project may not see them. */
const OF_THE_HUB: readonly Part[] = ["tokens", "hosts"];

/** The hub: projects of many people and what runs in them. */
export function HubView() {
  const { store, router } = usePage();
  const { item, query } = router.route.value;
  const me = store.me.value;
  const loaded = useHub<{ projects: readonly Project[] }>(me?.hub ? "project.list" : undefined);
  if (me && !me.hub) return <HubElsewhere />;
  const projects = loaded.data?.projects ?? [];
  const project = projects.find(({ project_id }) => project_id === query["project"]) ?? projects[0];
  const parts = PARTS.filter(
    ([one]) => !OF_THE_HUB.includes(one) || (me?.access === "admin" && me.project === null),
  );
  const part = parts.find(([one]) => one === item)?.[0] ?? "projects";
  return (
    <>
      <ViewHead title="Hub" detail={loaded.data && counted(projects.length, "project")}>
        {projects.length > 1 && OF_A_PROJECT.includes(part) && (
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
      <Shown loaded={loaded}>
        {() => (
          <Tabs<Part>
            label="Parts of the hub"
            value={part}
            options={parts}
            onChange={(next) => router.go("hub", next, { project: query["project"] })}
          >
            <PartView part={part} projects={projects} project={project} />
          </Tabs>
        )}
      </Shown>
    </>
  );
}

/** The console of a hub shows the hub alone, so this one only leads there. */
function HubElsewhere() {
  const { store } = usePage();
  const hub = store.processes.value?.find(isHub);
  const open = async () => {
    try {
      const { url } = await store.api.person(hub?.id ?? "", "link", {});
      window.open(url, "_blank", "noopener");
    } catch (cause) {
      store.fail(cause);
    }
  };
  return (
    <>
      <ViewHead title="Hub" />
      {hub ? (
        <Empty
          icon="hub"
          title="A hub runs on this machine"
          action={
            <button
              type="button"
              class="button large primary"
              disabled={store.me.value?.access !== "admin"}
              onClick={open}
            >
              Open the hub's console
            </button>
          }
        >
          Its projects, containers, schedules and tokens are in its own console.
        </Empty>
      ) : (
        <Empty icon="hub" title="This console has no hub" command="octant hub">
          A hub runs agents in containers for many people. Start one, and open its console:
        </Empty>
      )}
    </>
  );
}

interface PartProps {
  readonly part: Part;
  readonly projects: readonly Project[];
  readonly project: Project | undefined;
}

function PartView({ part, projects, project }: PartProps) {
  if (part === "tokens") return <Tokens projects={projects} />;
  if (part === "hosts") return <Hosts />;
  if (part === "limits") return <Limits project={project} />;
  if (part === "projects") return <Projects projects={projects} />;
  if (!project) return <NoProject />;
  if (part === "containers") return <Containers projects={projects} />;
  const { project_id } = project;
  if (part === "sessions") return <Sessions key={project_id} project_id={project_id} />;
  if (part === "workspaces") return <Workspaces key={project_id} project_id={project_id} />;
  return <Schedules key={project_id} project_id={project_id} />;
}
