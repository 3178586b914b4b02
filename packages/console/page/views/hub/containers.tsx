import { usePage } from "../../data/context.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Foreign } from "../../text/foreign.tsx";
import { toBytes } from "../../text/format.ts";
import { type Container, HUB, type Project } from "./hub-data.ts";
import { Shown } from "./shown.tsx";
import { useHub } from "./use-hub.ts";

const MB = 1_000_000;
const TONES: Readonly<Record<string, Tone>> = { running: "good", starting: "accent", none: "plain" };

/** The container of each project, what it uses now, and its limits. */
export function Containers({ projects }: { readonly projects: readonly Project[] }) {
  return (
    <ul class="plain-list containers">
      {projects.map((project) => (
        <ContainerCard key={project.project_id} project={project} />
      ))}
    </ul>
  );
}

function ContainerCard({ project: { project_id, name } }: { readonly project: Project }) {
  const { store } = usePage();
  const loaded = useHub<Container>("container.stats", { project_id });
  const mayChange = store.me.value?.access !== "read";
  const act = (action: "start" | "stop") =>
    store.api.data(HUB, `container.${action}`, { project_id }).then(loaded.reload, store.fail);
  return (
    <li class="container" aria-label={name}>
      <Shown loaded={loaded}>
        {({ state, engine, ...use }) => (
          <>
            <header>
              <h3>
                <Foreign text={name} oneLine />
              </h3>
              <Badge tone={TONES[state] ?? "plain"}>{state === "none" ? "not created yet" : state}</Badge>
              <span class="calm">
                <Foreign text={engine} oneLine />
              </span>
              {mayChange && (
                <button
                  type="button"
                  class="button"
                  onClick={() => act(state === "running" ? "stop" : "start")}
                >
                  {state === "running" ? "Stop" : "Start"}
                </button>
              )}
            </header>
            <dl class="usages">
              <Usage
                name="Processors"
                used={use.cpu_percent === undefined ? undefined : use.cpu_percent / 100}
                limit={use.limits.cpus}
                toText={(value) => value.toFixed(2)}
              />
              <Usage
                name="Memory"
                used={use.memory_bytes}
                limit={toB(use.limits.memory_mb)}
                toText={toBytes}
              />
              <Usage name="Processes" used={use.pids} limit={use.limits.pids} toText={String} />
              <Usage name="Disk" used={use.disk_bytes} limit={toB(use.limits.disk_mb)} toText={toBytes} />
            </dl>
            {use.not_counted !== undefined && (
              <p class="calm">
                <Foreign text={use.not_counted} />
              </p>
            )}
          </>
        )}
      </Shown>
    </li>
  );
}

const toB = (megabytes: number | undefined): number | undefined =>
  megabytes === undefined ? undefined : megabytes * MB;

interface UsageProps {
  readonly name: string;
  readonly used: number | undefined;
  readonly limit: number | undefined;
  toText(value: number): string;
}

const NEARLY_FULL = 0.9;

/** The used share of a limit, in words and as a bar. */
function Usage({ name, used, limit, toText }: UsageProps) {
  const share = used !== undefined && limit !== undefined && limit > 0 ? Math.min(1, used / limit) : 0;
  return (
    <div>
      <dt>{name}</dt>
      <dd class="number">
        {used === undefined ? "–" : toText(used)}{" "}
        <span class="calm">{limit === undefined ? "no limit" : `of ${toText(limit)}`}</span>
      </dd>
      {limit !== undefined && (
        <dd class={share > NEARLY_FULL ? "usage-bar full" : "usage-bar"} aria-hidden="true">
          <span style={{ width: `${100 * share}%` }} />
        </dd>
      )}
    </div>
  );
}
