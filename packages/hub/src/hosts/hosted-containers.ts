import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { invalidArgument, newHandle, ToolError } from "@octant/core";
import type { HeldPlace, PlacesClient, WantedPlace } from "@octant/wire";
import { collectOutput, MAX_OUTPUT_BYTES } from "../containers/collect-output.ts";
import { openContainerLog } from "../containers/container-log.ts";
import type { Containers } from "../containers/containers.ts";
import type { LimitHit } from "../containers/limit-watch.ts";
import {
  type ContainerEngine,
  type ContainerState,
  type ExecProcess,
  type ExecSpec,
  NETWORKS,
  notRunning,
  type OnLine,
} from "../engines/engine.ts";
import { createImages } from "../images/images.ts";
import type { ProjectFiles } from "../images/project-files.ts";
import type { Project } from "../projects/project.ts";
import type { HubStore } from "../store/hub-store.ts";
import type { HostedFiles, Workspace } from "../workspaces/workspaces.ts";
import { ANY_HOST } from "./host.ts";
import type { Hello } from "./operations.ts";
import { execInPlace } from "./remote-exec.ts";
import type { WorkspaceCopies } from "./workspace-copies.ts";

export interface HostedContainersOptions {
  readonly client: PlacesClient;
  readonly store: HubStore;
  readonly files: ProjectFiles;
  readonly copies: WorkspaceCopies;
  folderOf(project_id: string): string;
  log(line: string): void;
}

/** A place that this hub wants: of a workspace, or of a project for commands that are not about one. */
interface Held {
  readonly key: string;
  readonly label: string;
  readonly wanted: WantedPlace;
  project: Project;
  readonly workspace_id?: string | undefined;
  /** Made ready for the lease that it names. */
  ready?: { readonly lease_id: string; readonly opened: Promise<Opened> };
  /** Commands that run. */
  uses: number;
  idleSince: number;
  timer?: NodeJS.Timeout | undefined;
}

interface Opened {
  readonly place: HeldPlace;
  readonly hello: Hello;
  /** Until a session has been told. */
  loss?: string | undefined;
}

const MINUTE_MS = 60_000;
/** A hub tells its hosts that it wants their places still. */
const KEEP_MS = 60_000;
/** Work that waits for longer takes the place of a workspace that nobody uses. */
const PRESSURE_MS = 2_000;
const LABEL = /^[\w-]{1,64}$/;
const MAX_STDERR_CHARS = 4_000;

/** Containers of projects on other machines: the same interface as those of the hub's own machine. */
export function createHostedContainers(options: HostedContainersOptions): {
  readonly containers: Containers;
  readonly hostedFiles: HostedFiles;
} {
  const { client, store, files, copies, folderOf, log } = options;
  const records = store.records<Workspace>("workspace");
  const all = new Map<string, Promise<Held>>();
  let isClosed = false;

  const labelOf = ({ labels }: Project): string => {
    const label = labels?.["host"] ?? ANY_HOST;
    if (LABEL.test(label)) return label;
    throw invalidArgument(
      "labels.host",
      "a label of hosts has 1 to 64 letters, digits, dashes and underscores",
    );
  };
  const hold = (project: Project, workspace_id?: string): Promise<Held> => {
    const key = workspace_id ?? project.id;
    const known = all.get(key);
    if (known) return known;
    const label = labelOf(project);
    const needs = { key, label, memory_mb: project.limits.memory_mb ?? 0 };
    const held = client.want(needs).then(
      (wanted): Held => ({
        key,
        label,
        wanted,
        project,
        workspace_id,
        uses: 0,
        idleSince: performance.now(),
      }),
    );
    all.set(key, held);
    held.catch(() => all.delete(key));
    return held;
  };
  const heldOf = async (project_id: string): Promise<readonly Held[]> =>
    (await Promise.all(all.values())).filter(({ project }) => project.id === project_id);

  /** Waits for a host. Workspaces that nobody uses make room for those that wait. */
  const currentOf = async ({ wanted, label, key }: Held, signal?: AbortSignal): Promise<HeldPlace> => {
    const found = wanted.current(signal);
    const waited = new AbortController();
    const makeRoom = async () => {
      await delay(PRESSURE_MS, undefined, { signal: waited.signal, ref: false });
      log(`hub: ${key} waits for a host with the label '${label}'; octant host starts one`);
      while (!waited.signal.aborted) {
        const idle = (await Promise.all(all.values()))
          .filter((one) => one.label === label && one.uses === 0 && one.ready !== undefined)
          .toSorted((a, b) => a.idleSince - b.idleSince)[0];
        if (idle) await rest(idle);
        await delay(PRESSURE_MS, undefined, { signal: waited.signal, ref: false });
      }
    };
    makeRoom().catch(() => {});
    return found.finally(() => waited.abort());
  };
  const open = async (held: Held, signal?: AbortSignal): Promise<Opened> => {
    for (;;) {
      const place = await currentOf(held, signal);
      if (held.ready?.lease_id !== place.lease_id)
        held.ready = { lease_id: place.lease_id, opened: makeReady(held, place) };
      try {
        return await held.ready.opened;
      } catch (cause) {
        if (held.ready?.lease_id === place.lease_id) delete held.ready;
        // Another host may do better; one that is alive has said why.
        if (!place.lost.aborted) throw cause;
      }
    }
  };
  const configure = async ({ project }: Held, place: HeldPlace): Promise<void> => {
    const { id, name, limits, ready_command, secrets, permissions = [] } = project;
    const onLine = (line: string) => logOf(id).add(line);
    const images = createImages({ engine: engineOf(place), files });
    const { image, env } = await images.resolve(project, onLine, place.lost);
    await place.ask("configure", {
      project: {
        ...{ id, name, limits, permissions },
        ...(ready_command && { ready_command }),
        ...(secrets && { secrets }),
      },
      ...(image !== undefined && { image }),
      env,
    });
  };
  const makeReady = async (held: Held, place: HeldPlace): Promise<Opened> => {
    const { project, workspace_id } = held;
    const hello = await place.ask<Hello>("hello");
    await configure(held, place);
    if (workspace_id === undefined) return { place, hello };
    const workspace = await records.get(workspace_id);
    if (!workspace) throw new ToolError("NOT_FOUND", `there is no workspace '${workspace_id}'`, {});
    const before = workspace.lease_id;
    if (!hello.is_seeded) {
      await copies.seed(project, workspace, (argv) => execInPlace(place, { argv, tools: false }));
      await place.ask("seeded");
    }
    if (before !== place.lease_id)
      await records.change(workspace_id, (one) => ({ ...one, lease_id: place.lease_id }));
    logOf(project.id).add(`workspace ${workspace_id} is on the host ${place.host}`);
    const isLoss = before !== undefined && before !== place.lease_id;
    return { place, hello, ...(isLoss && { loss: await lossText(workspace, place) }) };
  };
  const lossText = async (workspace: Workspace, { host }: HeldPlace): Promise<string> => {
    const at = await copies.savedAt(workspace);
    const from = at === undefined ? "its first commit" : `the state that was saved at ${at}`;
    return `the host of this session was lost; the session continues on the host ${host} from ${from}. Changes after that, files that git ignores and running processes are lost`;
  };
  const use = (held: Held): (() => void) => {
    held.uses += 1;
    clearTimeout(held.timer);
    return () => {
      held.uses -= 1;
      held.idleSince = performance.now();
      if (held.uses > 0 || isClosed) return;
      const restLater = () => void rest(held).catch((cause: unknown) => log(`hub: ${held.key}: ${cause}`));
      held.timer = setTimeout(restLater, held.project.limits.idle_stop_minutes * MINUTE_MS).unref();
    };
  };
  /** Brings a workspace home and frees its place on a host. */
  const rest = async (held: Held): Promise<void> => {
    const { key, workspace_id, project, wanted } = held;
    if (workspace_id !== undefined && held.ready) await saveNow(held);
    if (held.uses > 0) return;
    all.delete(key);
    clearTimeout(held.timer);
    await wanted.close();
    if (workspace_id !== undefined) await records.change(workspace_id, ({ lease_id: _lease, ...one }) => one);
    logOf(project.id).add(`${key} has left its host`);
  };
  const saveNow = async (held: Held): Promise<void> => {
    const workspace = held.workspace_id === undefined ? undefined : await records.get(held.workspace_id);
    const opened = await held.ready?.opened;
    if (!workspace || !opened) return;
    const run = (argv: readonly string[]) => execInPlace(opened.place, { argv, tools: false });
    await copies.save(held.project, workspace, run);
  };
  const start = async (
    project: Project,
    spec: ExecSpec & { readonly tools: boolean },
    signal?: AbortSignal,
  ) => {
    const held = await hold(project, spec.workspace_id);
    held.project = project;
    const release = use(held);
    const { workspace_id: _workspace, ...inPlace } = spec;
    try {
      for (;;) {
        const opened = await open(held, signal);
        const { place, loss } = opened;
        const { host, lease_id, lost } = place;
        try {
          if (spec.tools) await configure(held, place);
          const process = await execInPlace(place, inPlace);
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
  const logOf = (project_id: string) => openContainerLog(join(folderOf(project_id), "container.log"));
  /** Of the places that are open; nothing is started. */
  const askAll = async <T>(
    project_id: string,
    operation: string,
    input: object = {},
  ): Promise<readonly T[]> => {
    const answers: T[] = [];
    for (const { ready } of await heldOf(project_id)) {
      const opened = await ready?.opened.catch(() => undefined);
      if (opened && !opened.place.lost.aborted) answers.push(await opened.place.ask<T>(operation, input));
    }
    return answers;
  };
  const openedOf = async (key: string): Promise<Opened | undefined> =>
    (await all.get(key))?.ready?.opened.catch(() => undefined);
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
    for (const { key } of await heldOf(project_id)) {
      const state = await stateOf(key);
      if (state) return state;
    }
    return undefined;
  };
  /** An image build is work by itself: it waits for a host with room. */
  const onSomeHost = async (work: (engine: ContainerEngine) => Promise<void>): Promise<void> => {
    const wanted = await client.want({ key: newHandle("build", Date.now()), label: ANY_HOST, memory_mb: 0 });
    try {
      const place = await wanted.current();
      await place.ask("hello");
      await work(engineOf(place));
    } finally {
      await wanted.close();
    }
  };
  const engine = toFacade({
    stateOf,
    stats: async (id) => (await byKey(id))?.ask("stats"),
    logs: async (id, wanted) => (await byKey(id))?.ask("logs", wanted),
    onSomeHost,
    close: () => client.close(),
  });
  const keeping = setInterval(() => {
    void (async () => {
      for (const one of await Promise.all(all.values()))
        void one.ready?.opened.then(({ place }) => place.ask("hello")).catch(() => {});
    })();
  }, KEEP_MS);

  const containers: Containers = {
    find,
    exec,
    logOf,
    engine,
    async run(project, { input, ...command }, signal) {
      const started = () => start(project, { ...command, tools: false }, signal);
      const { code, stdout, stderr, isTooLarge } = await collectOutput(
        started,
        MAX_OUTPUT_BYTES,
        signal,
        input && Readable.from([input]),
      );
      if (!isTooLarge) return { code, stdout, stderr: stderr.toString("utf8").slice(-MAX_STDERR_CHARS) };
      const message = `the command in the container printed more than ${MAX_OUTPUT_BYTES} bytes`;
      throw new ToolError("TOO_LARGE", message, { limit: MAX_OUTPUT_BYTES });
    },
    async usedBy(project_id) {
      return (await askAll<number>(project_id, "disk")).reduce((sum, one) => sum + one, 0);
    },
    async execRunning(project, { argv: [, ...args], ...spec }) {
      for (const { ready } of await heldOf(project.id)) {
        const opened = await ready?.opened;
        // The path of Node on the host, which may be another one than on the hub's machine.
        if (opened)
          return execInPlace(opened.place, { ...spec, argv: [opened.hello.node, ...args], tools: false });
      }
      throw notRunning("none");
    },
    execTools: (project, { argv = [], env, cwd, workspace_id }) =>
      start(project, { argv, cwd, workspace_id, ...(env && { env }), tools: true }),
    async start(project) {
      const { place } = await open(await hold(project));
      await place.ask("start");
      return (
        (await stateOf(project.id)) ?? { id: project.id, name: project.name, state: "stopped", labels: {} }
      );
    },
    async stop(project_id) {
      await askAll(project_id, "stop");
    },
    async remove(project_id) {
      for (const held of await heldOf(project_id)) {
        all.delete(held.key);
        clearTimeout(held.timer);
        await held.wanted.close();
      }
    },
    async refresh(project) {
      for (const held of await heldOf(project.id)) {
        held.project = project;
        const opened = await held.ready?.opened;
        if (opened) await configure(held, opened.place);
      }
      await askAll(project.id, "refresh");
      return containers.start(project);
    },
    watchLimits: (project, workspace_id) => async () =>
      (await (await byKey(workspace_id ?? project.id))?.ask<readonly LimitHit[]>("new_hits")) ?? [],
    async save(project, workspace_id) {
      const held = await all.get(workspace_id);
      if (!held) return;
      held.project = project;
      await saveNow(held);
    },
    async explain(project, workspace_id) {
      const place = (await openedOf(workspace_id ?? project.id))?.place;
      if (place?.lost.aborted) return place.lost.reason.message;
      return (await place?.ask<string | null>("explain")) ?? undefined;
    },
    // Hosts end the commands of an earlier hub when this one says hello.
    async recover() {},
    async removeStrangers() {},
    /** Another hub has the project now. */
    forget(project_id) {
      void heldOf(project_id).then((places) => {
        for (const { key, timer, wanted } of places) {
          all.delete(key);
          clearTimeout(timer);
          wanted.leave();
        }
      });
    },
    async close() {
      isClosed = true;
      clearInterval(keeping);
      for (const { project } of await Promise.all(all.values()))
        await askAll(project.id, "stop").catch((cause: unknown) => log(`hub: ${cause}`));
    },
    list: async () => [],
    projectOf: () => undefined,
  };
  return {
    containers,
    hostedFiles: {
      isAtRest: async ({ id }) => !all.has(id) && (await records.get(id))?.lease_id === undefined,
      async remove(workspace) {
        const held = await all.get(workspace.id);
        all.delete(workspace.id);
        clearTimeout(held?.timer);
        await held?.wanted.close();
        await copies.remove(workspace);
      },
    },
  };
}

/** The images of one host. */
function engineOf(place: HeldPlace): ContainerEngine {
  const withLines = async (
    operation: string,
    input: object,
    onLine: OnLine,
    context?: NodeJS.ReadableStream,
  ) => {
    const id = newHandle("build", Date.now());
    const printed = place.reader(id, "out");
    const lines = createInterface({ input: printed }).on("line", onLine);
    // The host reads it as soon as it has the request.
    const sent = context && pipeline(context, place.writer(id, "in")).catch(() => {});
    try {
      await place.ask(operation, { id, ...input });
      await sent;
    } finally {
      lines.close();
      printed.close();
    }
  };
  return {
    ...NO_CONTAINERS,
    async status() {
      const { engine } = await place.ask<Hello>("hello");
      // A host of the same version wrote it.
      return engine as Awaited<ReturnType<ContainerEngine["status"]>>;
    },
    hasImage: (image) => place.ask("has_image", { image }),
    build: ({ context, ...spec }, onLine) => withLines("build", spec, onLine, context),
    pull: (image, onLine) => withLines("pull", { image }, onLine),
    close: async () => {},
  };
}

interface FacadeOptions extends Pick<ContainerEngine, "close"> {
  stateOf(key: string): Promise<ContainerState | undefined>;
  stats(key: string): Promise<unknown>;
  logs(key: string, wanted: object): Promise<unknown>;
  onSomeHost(work: (engine: ContainerEngine) => Promise<void>): Promise<void>;
}

/** All hosts as one engine, for the parts of the hub that only ask. */
const toFacade = ({ stateOf, stats, logs, onSomeHost, close }: FacadeOptions): ContainerEngine => ({
  ...NO_CONTAINERS,
  close,
  status: async () => ({
    name: "hosts",
    available: true,
    images: true,
    detail: "containers of the hosts that pull work from NATS (octant host)",
    // Each host refuses what its own engine does not enforce.
    enforces: ["cpus", "memory_mb", "pids", "disk_mb", ...NETWORKS.map((one) => `network:${one}` as const)],
  }),
  inspect: stateOf,
  // A host of the same version answers.
  stats: async (id) => (await stats(id)) as Awaited<ReturnType<ContainerEngine["stats"]>>,
  logs: async (id, wanted) => String((await logs(id, wanted)) ?? ""),
  hasImage: async () => false,
  build: (spec, onLine, signal) => onSomeHost((engine) => engine.build(spec, onLine, signal)),
  pull: (image, onLine, signal) => onSomeHost((engine) => engine.pull(image, onLine, signal)),
});

const unsupported = async (): Promise<never> => {
  throw new ToolError("UNSUPPORTED", "containers of hosts are used through their places", {
    what: "this operation on hosts",
    how: "run it with octant hub --engine on the machine itself",
  });
};
const NO_CONTAINERS: Omit<ContainerEngine, "status" | "close"> = {
  create: unsupported,
  start: unsupported,
  stop: unsupported,
  remove: unsupported,
  inspect: unsupported,
  list: unsupported,
  exec: unsupported,
  logs: unsupported,
  stats: unsupported,
  hits: unsupported,
  hasImage: unsupported,
  build: unsupported,
  importImage: unsupported,
  pull: unsupported,
};
