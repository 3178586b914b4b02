import { setTimeout as delay } from "node:timers/promises";
import { invalidArgument, newHandle, ToolError } from "@octant/core";
import type { HeldPlace, PlaceNeeds, PlacesClient, WantedPlace } from "@octant/wire";
import type { ContainerLog } from "../containers/container-log.ts";
import { createImages } from "../images/images.ts";
import type { ProjectFiles } from "../images/project-files.ts";
import { ProjectLost } from "../peers/peers.ts";
import type { Project } from "../projects/project.ts";
import type { HubStore } from "../store/hub-store.ts";
import type { Workspace } from "../workspaces/workspaces.ts";
import { ANY_HOST } from "./host.ts";
import { engineOf } from "./hosted-engine.ts";
import type { Hello } from "./operations.ts";
import { execInPlace } from "./remote-exec.ts";
import type { WorkspaceCopies } from "./workspace-copies.ts";

export interface HeldPlacesOptions {
  readonly client: Pick<PlacesClient, "want" | "askForRoom" | "onAskedForRoom">;
  readonly store: HubStore;
  readonly files: ProjectFiles;
  readonly copies: WorkspaceCopies;
  /** Whether the project is this hub's. */
  owns(project_id: string): boolean;
  logOf(project_id: string): ContainerLog;
  /** The place is given up; its files go. */
  onEnd(project_id: string, place: HeldPlace, signal: AbortSignal): Promise<void>;
  log(line: string): void;
}

/** A place that this hub wants: of a workspace, or of a project for commands that are not about one. */
export interface Held {
  readonly key: string;
  readonly needs: PlaceNeeds;
  readonly wanted: WantedPlace;
  project: Project;
  /** The host that holds it. */
  host?: string;
  readonly workspace_id?: string | undefined;
  /** It was ready before, in this hub. */
  wasReady?: boolean;
  /** Made ready in the place that it names. */
  ready?: { readonly place: HeldPlace; readonly opened: Promise<Opened> };
  /** Commands that run. */
  uses: number;
  idleSince: number;
  /** It is being given up. */
  resting?: Promise<boolean> | undefined;
  timer?: NodeJS.Timeout | undefined;
}

/** A place on a host, ready for commands. */
export interface Opened {
  readonly place: HeldPlace;
  readonly hello: Hello;
  /** Describes what was lost, until a session has read it. */
  loss?: string | undefined;
}

/** How long to wait for a host that has room. */
export interface Waiting {
  readonly signal?: AbortSignal | undefined;
  /** Waits for as long as it takes, and reports why; undefined when there is a host. Without it the wait is limited. */
  readonly onWaiting?: ((why: string | undefined) => void) | undefined;
}

const MINUTE_MS = 60_000;
/** Work that waits for longer takes the place of a workspace that nobody uses. */
const PRESSURE_MS = 2_000;
/** How long a call waits for a host. */
const MAX_WAIT_MS = 30_000;
const RETRY_MS = 10_000;
/** How long a host may take to stop a container whose place is given up. */
const END_MS = 10_000;
const LABEL = /^[\w-]{1,64}$/;

/** The places that this hub has on hosts, or waits for. */
export function createHeldPlaces(options: HeldPlacesOptions) {
  const { client, store, files, copies, owns, logOf, log } = options;
  const records = store.records<Workspace>("workspace");
  const all = new Map<string, Promise<Held>>();
  /** Leases that no host has any more. */
  const gone = new Set<string>();
  const closing = new AbortController();

  const hold = (project: Project, workspace_id?: string): Promise<Held> => {
    const key = workspace_id ?? project.id;
    const known = all.get(key);
    if (known) return known;
    const needs = { key, label: labelOf(project), memory_mb: project.limits.memory_mb ?? 0 };
    const idleSince = performance.now();
    const held = client.want(needs).then((wanted): Held => {
      const one: Held = { key, needs, wanted, project, workspace_id, uses: 0, idleSince };
      giveUpLater(one);
      return one;
    });
    all.set(key, held);
    held.catch(() => all.delete(key));
    return held;
  };
  const forget = (held: Held): void => {
    all.delete(held.key);
    clearTimeout(held.timer);
  };
  /** Unless it is used before. One that cannot be given up then is tried again. */
  const giveUpLater = (held: Held): void => {
    clearTimeout(held.timer);
    if (closing.signal.aborted) return;
    const giveUp = () =>
      rest(held).catch((cause: unknown) => {
        log(`hub: ${held.key} cannot leave its host: ${cause}`);
        if (all.has(held.key) && held.uses === 0) giveUpLater(held);
      });
    held.timer = setTimeout(() => void giveUp(), held.project.limits.idle_stop_minutes * MINUTE_MS).unref();
  };

  /** For work of any hub that waits for a host. */
  const giveRoom = async (label: string): Promise<void> => {
    const isIdle = ({ needs, uses, wanted }: Held) =>
      needs.label === label && uses === 0 && wanted.now() !== undefined;
    const idle = (await Promise.all(all.values()))
      .filter(isIdle)
      .toSorted((a, b) => a.idleSince - b.idleSince);
    for (const held of [...idle, ...(idle.length > 0 ? [] : await leftByOthers(label))])
      try {
        if (await rest(held)) return;
      } catch (cause) {
        // Such as a host whose disk is full; another place may do.
        log(`hub: ${held.key} cannot leave its host: ${cause}`);
      }
  };
  /** Places of workspaces whose hub is gone, and which nobody has used since. */
  const leftByOthers = async (label: string): Promise<readonly Held[]> => {
    const left: Held[] = [];
    for (const { id, project_id, lease_id } of await records.list()) {
      if (lease_id === undefined || all.has(id) || gone.has(lease_id) || !owns(project_id)) continue;
      const project = await store.records<Project>("project").get(project_id);
      if (!project || labelOf(project) !== label) continue;
      const held = await hold(project, id);
      if (held.wanted.now()?.lease_id === lease_id) left.push(held);
      else {
        gone.add(lease_id);
        if (held.uses > 0) continue;
        forget(held);
        await held.wanted.close();
      }
    }
    return left;
  };
  client.onAskedForRoom(
    (label) =>
      void giveRoom(label).catch((cause: unknown) =>
        log(`hub: a place on a host cannot be freed for other work: ${cause}`),
      ),
  );
  /** Waits for a host. Workspaces that nobody uses make room for those that wait. */
  const currentOf = async ({ wanted, needs }: Held, waiting: Waiting): Promise<HeldPlace> => {
    const done = new AbortController();
    const makeRoom = async () => {
      await delay(PRESSURE_MS, undefined, { signal: done.signal, ref: false });
      log(`hub: ${needs.key}: ${noHost(needs)}`);
      waiting.onWaiting?.(noHost(needs));
      while (!done.signal.aborted) {
        client.askForRoom(needs.label);
        await delay(PRESSURE_MS, undefined, { signal: done.signal, ref: false });
      }
    };
    makeRoom().catch(() => {});
    try {
      return await withinLimit(waiting, needs, (signal) => wanted.current(signal));
    } finally {
      done.abort();
      waiting.onWaiting?.(undefined);
    }
  };
  const open = async (held: Held, waiting: Waiting = {}): Promise<Opened> => {
    for (;;) {
      const place = await currentOf(held, waiting);
      const { ready: last } = held;
      const ready = last?.place === place ? last : { place, opened: makeReady(held, place) };
      held.ready = ready;
      try {
        return await ready.opened;
      } catch (cause) {
        if (held.ready === ready) delete held.ready;
        // Another host may do better; one that is alive has said why.
        if (cause instanceof ProjectLost) throw cause;
        if (!place.lost.aborted && !(await leaveFullDisk(place))) throw cause;
      }
    }
  };
  /** Another host takes what a host took shortly before its disk was full; true when nothing is lost by that. */
  const leaveFullDisk = async (place: HeldPlace): Promise<boolean> => {
    const full = await place.ask<Hello>("hello").catch(() => undefined);
    if (!full?.is_full || full.is_seeded) return place.lost.aborted;
    await place.ask("close").catch(() => {});
    return true;
  };
  /** Tells the host about the project, and makes it build or download the image that it lacks. */
  const configure = async ({ project }: Held, place: HeldPlace): Promise<void> => {
    const { id, name, limits, ready_command, secrets, permissions = [] } = project;
    const images = createImages({ engine: engineOf(place), files });
    const signal = AbortSignal.any([place.lost, closing.signal]);
    const { image, env } = await images.resolve(project, logOf(id).add, signal);
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
  /** A host listens to the last hub that said hello: one that was stuck must not take the place from its successor. */
  const refuseLost = async (project_id: string): Promise<void> => {
    const owned = await store.peers?.owned();
    if (owned && !owned.includes(project_id)) throw new ProjectLost();
  };
  const makeReady = async (held: Held, place: HeldPlace): Promise<Opened> => {
    const { project, workspace_id } = held;
    await refuseLost(project.id);
    held.host = place.host;
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
    const isBack = before === place.lease_id && held.wasReady === true;
    held.wasReady = true;
    if (before === place.lease_id) return { place, hello, ...(isBack && { loss: backText(place) }) };
    return { place, hello, ...(before !== undefined && { loss: await lossText(workspace, place) }) };
  };
  const lossText = async (workspace: Workspace, { host }: HeldPlace): Promise<string> => {
    const at = await copies.savedAt(workspace);
    const from = at === undefined ? "its first commit" : `the state that was saved at ${at}`;
    return `the host of this session was lost; the session continues on the host ${host} from ${from}. Changes after that, files that git ignores, what the tools stored (undo, memories, plans, long outputs) and running processes are lost`;
  };
  const save = async (held: Held): Promise<void> => {
    const workspace = held.workspace_id === undefined ? undefined : await records.get(held.workspace_id);
    const opened = await held.ready?.opened;
    if (!workspace || !opened) return;
    const run = (argv: readonly string[]) => execInPlace(opened.place, { argv, tools: false });
    await copies.save(held.project, workspace, run);
  };
  /** A workspace can leave its host without what its tools stored: that may be too large. */
  const saveState = async (held: Held, workspace: Workspace, { place }: Opened): Promise<void> => {
    const run = (argv: readonly string[]) => execInPlace(place, { argv, tools: false });
    await copies
      .saveState(held.project, workspace, run)
      .catch((cause: unknown) => log(`hub: the state of ${workspace.id} cannot be saved: ${cause}`));
  };
  /** Ends it on its host; its files are gone. */
  const end = async (held: Held): Promise<void> => {
    forget(held);
    const place = held.wanted.now();
    const signal = AbortSignal.timeout(END_MS);
    // A host listens to the hub that said hello to it last.
    if (place && held.ready?.place !== place) await place.ask("hello", {}, signal).catch(() => {});
    if (place) await options.onEnd(held.project.id, place, signal).catch(() => {});
    await held.wanted.close();
  };
  /** Brings a workspace home and frees its place on a host; false when somebody uses it meanwhile. */
  const rest = (held: Held): Promise<boolean> => {
    held.resting ??= bringHome(held).finally(() => {
      held.resting = undefined;
    });
    return held.resting;
  };
  const bringHome = async (held: Held): Promise<boolean> => {
    const { key, workspace_id, project, wanted } = held;
    await refuseLost(project.id);
    const lease_id = wanted.now()?.lease_id;
    const workspace = workspace_id === undefined ? undefined : await records.get(workspace_id);
    // A host that has not taken the workspace over has none of its changes, and the model must still be told what
    // was lost.
    const isThere = workspace !== undefined && lease_id !== undefined && workspace.lease_id === lease_id;
    if (isThere) {
      const opened = await open(held);
      await save(held);
      if (held.uses === 0) await saveState(held, workspace, opened);
    }
    if (held.uses > 0) return false;
    await end(held);
    if (isThere) await records.change(workspace.id, ({ lease_id: _lease, ...one }) => one);
    logOf(project.id).add(`${key} has left its host`);
    return true;
  };

  return {
    hold,
    open,
    configure,
    save,
    /** undefined when this hub does not want it. */
    get: async (key: string): Promise<Held | undefined> => all.get(key),
    has: (key: string): boolean => all.has(key),
    all: (): Promise<readonly Held[]> => Promise.all(all.values()),
    of: async (project_id: string): Promise<readonly Held[]> =>
      (await Promise.all(all.values())).filter(({ project }) => project.id === project_id),
    /** A command begins; the result is called when it has ended. The place is given up when it has been idle for long. */
    use(held: Held): () => void {
      held.uses += 1;
      clearTimeout(held.timer);
      return () => {
        held.uses -= 1;
        held.idleSince = performance.now();
        if (held.uses === 0) giveUpLater(held);
      };
    },
    end,
    /** Another hub has it from now on. */
    leave(held: Held): void {
      forget(held);
      held.wanted.leave();
    },
    /** A place for one piece of work that is about no workspace, such as the build of an image. */
    async borrow<T>(project: Project, waiting: Waiting, work: (place: HeldPlace) => Promise<T>): Promise<T> {
      const needs = { key: newHandle("build", Date.now()), label: labelOf(project), memory_mb: 0 };
      const wanted = await client.want(needs);
      try {
        const place = await currentOf(
          { key: needs.key, needs, wanted, project, uses: 1, idleSince: 0 },
          waiting,
        );
        await place.ask("hello");
        return await work(place);
      } finally {
        await wanted.close();
      }
    },
    close(): void {
      closing.abort();
    },
  };
}

const backText = ({ host }: HeldPlace): string =>
  `the host ${host} of this session could not be reached for a while; files are as they were, and running processes have ended`;

const labelOf = ({ labels }: Project): string => {
  const label = labels?.["host"] ?? ANY_HOST;
  if (LABEL.test(label)) return label;
  throw invalidArgument(
    "labels.host",
    "a label of hosts has 1 to 64 letters, digits, dashes and underscores",
  );
};

const noHost = ({ label, memory_mb }: PlaceNeeds): string => {
  const how = label === ANY_HOST ? "octant host" : `octant host --label ${label}`;
  const which = label === ANY_HOST ? "no host" : `no host with the label '${label}'`;
  const memory = memory_mb > 0 ? ` for ${memory_mb} MB of memory` : "";
  return `${which} has room${memory}; ${how} starts one`;
};

async function withinLimit(
  { signal, onWaiting }: Waiting,
  needs: PlaceNeeds,
  wait: (signal: AbortSignal | undefined) => Promise<HeldPlace>,
): Promise<HeldPlace> {
  if (onWaiting) return wait(signal);
  const late = AbortSignal.timeout(MAX_WAIT_MS);
  try {
    return await wait(signal ? AbortSignal.any([signal, late]) : late);
  } catch (cause) {
    if (!late.aborted || signal?.aborted) throw cause;
    throw new ToolError("OVERLOADED", noHost(needs), { retry_after_ms: RETRY_MS });
  }
}
