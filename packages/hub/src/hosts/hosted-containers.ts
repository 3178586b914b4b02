import { join } from "node:path";
import { orAborted } from "@octant/core";
import type { HeldPlace, PlacesClient } from "@octant/wire";
import { runToEnd } from "../containers/collect-output.ts";
import { openContainerLog } from "../containers/container-log.ts";
import type { ContainerEvent, Containers, ContainersOptions } from "../containers/containers.ts";
import type { LimitHit } from "../containers/limit-watch.ts";
import type { PreparedMark } from "../containers/project-container.ts";
import { type ContainerState, type ExecProcess, type ExecSpec, notRunning } from "../engines/engine.ts";
import { createImages, type Images } from "../images/images.ts";
import type { ProjectFiles } from "../images/project-files.ts";
import type { Project } from "../projects/project.ts";
import type { HubStore } from "../store/hub-store.ts";
import type { HostedFiles, Workspace } from "../workspaces/workspaces.ts";
import { createHeldPlaces, type Opened, type Waiting } from "./held-places.ts";
import { engineOf, toHostedEngine } from "./hosted-engine.ts";
import type { Hello } from "./operations.ts";
import { execInPlace } from "./remote-exec.ts";
import type { WorkspaceCopies } from "./workspace-copies.ts";

export interface HostedContainersOptions {
  readonly client: PlacesClient;
  readonly store: HubStore;
  readonly files: ProjectFiles;
  readonly copies: WorkspaceCopies;
  /** Whether the project is this hub's. */
  owns(project_id: string): boolean;
  folderOf(project_id: string): string;
  report: ContainersOptions["report"];
  log(line: string): void;
}

/** The machines on which containers run, and how many workspaces each has. */
export type ListHosts = () => Promise<readonly { readonly name: string; readonly workspaces: number }[]>;

/** How often a hub tells its hosts that it still wants their places. */
const KEEP_MS = 60_000;

/** Containers of projects on other machines: the same interface as those of the hub's own machine. */
export function createHostedContainers(options: HostedContainersOptions): {
  readonly containers: Containers;
  readonly hostedFiles: HostedFiles;
  readonly rebuild: Images["rebuild"];
  readonly preparedMark: (workspace: Workspace) => PreparedMark;
  /** The hosts that hold work of this hub now. */
  readonly hosts: ListHosts;
} {
  const { client, store, files, copies, owns, folderOf, report, log } = options;
  const records = store.records<Workspace>("workspace");
  const logOf = (project_id: string) => openContainerLog(join(folderOf(project_id), "container.log"));
  const places = createHeldPlaces({
    ...{ client, store, files, copies, owns, logOf, log },
    async onEnd(project_id, place, signal) {
      if ((await place.ask("state", {}, signal)) === null) return;
      await place.ask("stop", {}, signal);
      await noteEvents(project_id, place);
      report("container.removed", project_id);
    },
  });
  /** Reports what happened to a container; its host knows. */
  const noteEvents = async (project_id: string, place: HeldPlace): Promise<void> => {
    try {
      for (const type of await place.ask<readonly ContainerEvent[]>("events")) report(type, project_id);
    } catch (cause) {
      log(`hub: the events of a container on ${place.host} are unknown: ${cause}`);
    }
  };

  const start = async (
    project: Project,
    spec: ExecSpec & { readonly tools: boolean },
    waiting: Waiting = {},
  ) => {
    const held = await places.hold(project, spec.workspace_id);
    held.project = project;
    const release = places.use(held);
    const { workspace_id: _workspace, ...inPlace } = spec;
    try {
      for (;;) {
        const opened = await places.open(held, waiting);
        const { place, loss } = opened;
        const { host, lease_id, lost } = place;
        try {
          if (spec.tools) await places.configure(held, place);
          const process = await execInPlace(place, inPlace);
          void noteEvents(project.id, place);
          process.exited.then(release, release);
          if (spec.tools) delete opened.loss;
          return { ...process, place: { host, lease_id, lost, loss } };
        } catch (cause) {
          // Tools that never served can be started elsewhere; another command may have run.
          if (!spec.tools || !lost.aborted) throw cause;
        }
      }
    } catch (cause) {
      release();
      throw cause;
    }
  };
  const exec = (project: Project, spec: ExecSpec): Promise<ExecProcess> =>
    start(project, { ...spec, tools: false });
  /** Asks every open place of a project; starts none. */
  const askAll = async <T>(project_id: string, operation: string): Promise<readonly T[]> => {
    const answers: T[] = [];
    for (const { ready } of await places.of(project_id)) {
      const opened = await ready?.opened.catch(() => undefined);
      if (!opened || opened.place.lost.aborted) continue;
      answers.push(await opened.place.ask<T>(operation, {}));
      await noteEvents(project_id, opened.place);
    }
    return answers;
  };
  const openedOf = async (key: string): Promise<Opened | undefined> =>
    (await places.get(key))?.ready?.opened.catch(() => undefined);
  /** undefined when no host has it now. */
  const byKey = async (key: string): Promise<HeldPlace | undefined> => {
    const place = (await openedOf(key))?.place;
    return place?.lost.aborted ? undefined : place;
  };
  const stateOf = async (key: string): Promise<ContainerState | undefined> => {
    const state = await (await byKey(key))?.ask<ContainerState | null>("state");
    return state ? { ...state, id: key } : undefined;
  };
  const find = async (project_id: string): Promise<ContainerState | undefined> => {
    for (const { key } of await places.of(project_id)) {
      const state = await stateOf(key);
      if (state) return state;
    }
    return undefined;
  };
  const engine = toHostedEngine({
    stateOf,
    stats: async (id) => (await byKey(id))?.ask("stats"),
    logs: async (id, wanted) => (await byKey(id))?.ask("logs", wanted),
    close: () => client.close(),
  });
  const keeping = setInterval(() => {
    void (async () => {
      for (const one of await places.all())
        if (owns(one.project.id))
          void one.ready?.opened.then(({ place }) => place.ask("hello")).catch(() => {});
    })();
  }, KEEP_MS);

  const containers: Containers = {
    find,
    exec,
    logOf,
    engine,
    run: (project, { input, ...command }, signal) =>
      runToEnd(() => start(project, { ...command, tools: false }, { signal }), input, signal),
    async usedBy(project_id) {
      return (await askAll<number>(project_id, "disk")).reduce((sum, one) => sum + one, 0);
    },
    async execRunning(project, { argv: [, ...args], ...spec }) {
      for (const { ready } of await places.of(project.id)) {
        const opened = await ready?.opened;
        // The path of Node on the host, which may be another one than on the hub's machine.
        if (opened)
          return execInPlace(opened.place, { ...spec, argv: [opened.hello.node, ...args], tools: false });
      }
      throw notRunning("none");
    },
    async makeRoom(project, workspace_id, waiting) {
      const held = await places.hold(project, workspace_id);
      const release = places.use(held);
      try {
        const { place } = await orAborted(places.open(held, waiting), waiting.signal);
        // Not when this hub has left it.
        return () => place.lost.aborted && places.has(held.key);
      } finally {
        release();
      }
    },
    execTools: (project, { argv = [], env, cwd, workspace_id, waiting }) =>
      start(project, { argv, cwd, workspace_id, ...(env && { env }), tools: true }, waiting),
    async start(project, workspace_id) {
      const held = await places.hold(project, workspace_id);
      const release = places.use(held);
      try {
        const { place } = await places.open(held);
        await place.ask("start");
        await noteEvents(project.id, place);
        const { id, name } = project;
        return (await stateOf(workspace_id ?? id)) ?? { id, name, state: "stopped", labels: {} };
      } finally {
        release();
      }
    },
    async stop(project_id) {
      await askAll(project_id, "stop");
    },
    async remove(project_id) {
      for (const held of await places.of(project_id)) await places.end(held);
    },
    async refresh(project) {
      for (const held of await places.of(project.id)) {
        held.project = project;
        const opened = await held.ready?.opened;
        if (opened) await places.configure(held, opened.place);
      }
      await askAll(project.id, "refresh");
      return containers.start(project);
    },
    watchLimits: (project, workspace_id) => async () => {
      const place = await byKey(workspace_id ?? project.id);
      if (!place) return [];
      const hits = await place.ask<readonly LimitHit[]>("new_hits");
      void noteEvents(project.id, place);
      return hits;
    },
    async save(project, workspace_id) {
      const held = await places.get(workspace_id);
      if (!held) return;
      held.project = project;
      await places.save(held);
    },
    async explain(project, workspace_id) {
      const place = (await openedOf(workspace_id ?? project.id))?.place;
      if (place?.lost.aborted) return place.lost.reason.message;
      return (await place?.ask<string | null>("explain")) ?? undefined;
    },
    // Hosts end the commands of an earlier hub when this one says hello.
    async recover() {},
    async removeStrangers() {},
    forget(project_id) {
      void places.of(project_id).then((all) => {
        for (const held of all) places.leave(held);
      });
    },
    async close() {
      places.close();
      clearInterval(keeping);
      for (const { project } of await places.all())
        await askAll(project.id, "stop").catch((cause: unknown) => log(`hub: ${cause}`));
    },
    list: async () => [],
    projectOf: () => undefined,
  };
  return {
    containers,
    async hosts() {
      const ready = (await places.all()).filter((held) => held.ready !== undefined);
      const byHost = Map.groupBy(ready, ({ host }) => host);
      return [...byHost].flatMap(([name, held]) =>
        name === undefined
          ? []
          : [{ name, workspaces: held.filter(({ workspace_id }) => workspace_id !== undefined).length }],
      );
    },
    hostedFiles: {
      isAtRest: async ({ id }) => !places.has(id) && (await records.get(id))?.lease_id === undefined,
      async remove(workspace) {
        const held = await places.get(workspace.id);
        if (held) await places.end(held);
        await copies.remove(workspace);
      },
    },
    /** Another host has other files: what git ignores, such as installed packages, is not there. */
    preparedMark: ({ id }) => ({
      isSet: async () => (await (await byKey(id))?.ask<Hello>("hello"))?.is_prepared ?? false,
      set: async () => (await byKey(id))?.ask("prepared"),
    }),
    /** Work of the same queue: it waits for a host with room. Other hosts build the image when they need it. */
    async rebuild(project, onLine, signal) {
      const onWaiting = (why: string | undefined) => void (why === undefined || onLine(why));
      const next = { ...project, image_version: String(Date.now()) };
      const image = await places.borrow(project, { signal, onWaiting }, (place) =>
        createImages({ engine: engineOf(place), files }).rebuild(next, onLine, signal),
      );
      const { image_version } = next;
      await store.records<Project>("project").change(project.id, (one) => ({ ...one, image_version }));
      return image;
    },
  };
}
