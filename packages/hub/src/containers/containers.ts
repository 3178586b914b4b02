import { hash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "@octant/core";
import {
  type ContainerEngine,
  type ContainerSpec,
  type ContainerState,
  type ExecProcess,
  type ExecSpec,
  notRunning,
} from "../engines/engine.ts";
import type { InstallInContainer } from "../install.ts";
import type { LifecycleEvent } from "../lifecycle/lifecycle-events.ts";
import type { Project } from "../projects/project.ts";
import type { RunInContainer } from "../workspaces/workspaces.ts";
import { runToEnd } from "./collect-output.ts";
import { type ContainerLog, openContainerLog } from "./container-log.ts";
import { createDiskGuard } from "./disk-guard.ts";
import { diskUse } from "./disk-use.ts";
import { createLimitWatch, diskFull, type LimitHit } from "./limit-watch.ts";
import type { Proxies } from "./proxies.ts";

type NewContainer = Omit<ContainerSpec, "name" | "labels">;

export interface ContainersOptions {
  readonly engine: ContainerEngine;
  /** Names this hub, so that it finds its own containers again. */
  readonly hub_id: string;
  /** Everything of the container but its name and labels; it may build an image first. */
  specOf(project: Project, onLine: (line: string) => void, signal: AbortSignal): Promise<NewContainer>;
  readonly proxies: Pick<Proxies, "update" | "close" | "closeAll" | "forget">;
  /** The folder of the hub's own files for a project. */
  folderOf(project_id: string): string;
  /** The folders that a container can fill. */
  writableOf(project_id: string): readonly string[];
  readonly toolsOf: InstallInContainer["toolsOf"];
  /** Names the install that containers mount; see `InstallInContainer`. */
  readonly install_id: string;
  /** The container of a project changed. */
  report(type: ContainerEvent, project_id: string): void;
  /** A command begins; the result is called when it has ended. */
  onUse(project_id: string): () => void;
  readonly log: (line: string) => void;
}

export type ContainerEvent = Extract<LifecycleEvent["type"], `container.${string}`>;

export type Containers = ReturnType<typeof createContainers>;

/** The tools of a workspace. */
export interface ToolsSpec {
  /** The command that serves them; Octant itself when absent. */
  readonly argv?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The workspace's path in the container. */
  readonly cwd: string;
  readonly workspace_id: string;
  readonly waiting?: Waiting | undefined;
}

/** How a session waits for a host that has room. */
export interface Waiting {
  /** Called with the reason while no host has room, and without one when there is a host. */
  onWaiting(why: string | undefined): void;
  /** Aborted when the session has to stop. */
  readonly signal: AbortSignal | undefined;
}

/** Its value is the hub's folder. */
export const HUB_LABEL = "octant.hub";
const PROJECT_LABEL = "octant.project";
const INSTALL_LABEL = "octant.install";
const READY_ATTEMPTS = 60;
const READY_PAUSE_MS = 1_000;
const STOP_GRACE_MS = 5_000;
const NAME_CHARS = 8;
const MEGABYTE = 1024 * 1024;

/** The containers of the projects, at most one each; the engine's labels say which is whose. */
export function createContainers(options: ContainersOptions) {
  const { engine, hub_id, specOf, proxies, folderOf, writableOf, report, log } = options;
  const closing = new AbortController();
  const working = new Map<string, Promise<unknown>>();
  /** One change of a project's container at a time. */
  const inTurn = <T>(project_id: string, work: () => Promise<T>): Promise<T> => {
    const next = (working.get(project_id) ?? Promise.resolve()).then(work, work);
    const settled = next.catch(() => {});
    working.set(project_id, settled);
    void settled.then(() => working.get(project_id) === settled && working.delete(project_id));
    return next;
  };
  const labelsOf = (project_id: string) => ({ [HUB_LABEL]: hub_id, [PROJECT_LABEL]: project_id });
  const logOf = (project_id: string): ContainerLog =>
    openContainerLog(join(folderOf(project_id), "container.log"));
  const find = async (project_id: string): Promise<ContainerState | undefined> =>
    (await engine.list(labelsOf(project_id)))[0];
  const usedBy = async (project_id: string, enough?: number): Promise<number> => {
    let used = 0;
    for (const folder of writableOf(project_id)) used += await diskUse(folder, enough);
    return used;
  };
  const create = async (project: Project, spec: NewContainer, onLine: (line: string) => void) => {
    onLine(`creating the container${spec.image === undefined ? "" : ` from ${spec.image}`}`);
    // A hub that was restored beside the old one has the same projects.
    const ours = hash("sha256", hub_id).slice(0, NAME_CHARS);
    const name = `octant-${project.name}-${project.id.slice(-NAME_CHARS)}-${ours}`.toLowerCase();
    const labels = { ...labelsOf(project.id), [INSTALL_LABEL]: options.install_id };
    return engine.create({ ...spec, name, labels });
  };
  const start = async (project: Project, prepared?: NewContainer): Promise<ContainerState> => {
    closing.signal.throwIfAborted();
    const found = await find(project.id);
    await proxies.update(project);
    if (found?.state === "running") return found;
    const entry = logOf(project.id);
    // One of an earlier install mounts files that may be gone. It has no files of its own.
    const isOld = found !== undefined && found.labels[INSTALL_LABEL] !== options.install_id;
    if (isOld) {
      await engine.remove(found.id);
      entry.add("removed: Octant was installed again");
      report("container.removed", project.id);
    }
    const specNow = async () => prepared ?? specOf(project, entry.add, closing.signal);
    const id = found && !isOld ? found.id : await create(project, await specNow(), entry.add);
    await engine.start(id);
    const started = await engine.inspect(id);
    const code = started?.exit_code ?? "unknown";
    entry.add(started?.state === "running" ? "started" : `exited immediately with code ${code}`);
    if (started?.state === "running") {
      await waitUntilReady(project, id);
      report("container.started", project.id);
      return started;
    }
    const message = `the container exited immediately (exit code ${code}); container.logs shows why`;
    throw new ToolError("UPSTREAM_ERROR", message, {});
  };
  const stopFound = async (project_id: string, { id, state }: ContainerState): Promise<void> => {
    if (state !== "running") return;
    await engine.stop(id, STOP_GRACE_MS);
    logOf(project_id).add("stopped");
    report("container.stopped", project_id);
  };
  /** Repeats the project's ready command until it succeeds; a container that never gets ready is stopped. */
  const waitUntilReady = async ({ ready_command }: Project, id: string): Promise<void> => {
    if (!ready_command) return;
    let code: number | null = null;
    for (let attempt = 0; attempt < READY_ATTEMPTS; attempt += 1) {
      if (attempt > 0) await delay(READY_PAUSE_MS, undefined, { signal: closing.signal });
      const run = () => engine.exec(id, { argv: ready_command });
      code = (await runToEnd(run, undefined, closing.signal)).code;
      if (code === 0) return;
    }
    await engine.stop(id, STOP_GRACE_MS);
    const message = `the container did not get ready: ${ready_command.join(" ")} ended with ${code ?? "a signal"}`;
    throw new ToolError("UPSTREAM_ERROR", message, {});
  };
  const removeFound = async (project_id: string) => {
    const found = await find(project_id);
    if (!found) return;
    await stopFound(project_id, found);
    await engine.remove(found.id);
    await proxies.close(project_id);
    logOf(project_id).add("removed");
    report("container.removed", project_id);
  };
  const guard = createDiskGuard({
    measure: usedBy,
    async onFull(project, used, disk_mb) {
      logOf(project.id).add(diskFull(used, disk_mb));
      log(`hub: project ${project.name}: ${diskFull(used, disk_mb)}`);
      const found = await find(project.id);
      if (found?.state !== "running") return;
      await engine.stop(found.id, 0);
      report("container.stopped", project.id);
    },
  });
  const execIn = async (
    project: Project,
    container: () => Promise<ContainerState>,
    spec: ExecSpec,
  ): Promise<ExecProcess> => {
    const release = options.onUse(project.id);
    try {
      const { id } = await container();
      const process = await engine.exec(id, spec);
      guard.follow(project, process.exited);
      process.exited.then(release, release);
      return process;
    } catch (cause) {
      release();
      throw cause;
    }
  };
  const exec = (project: Project, spec: ExecSpec): Promise<ExecProcess> =>
    execIn(project, () => inTurn(project.id, () => start(project)), spec);
  const findRunning = async ({ id }: Project): Promise<ContainerState> => {
    const found = await find(id);
    if (found?.state === "running") return found;
    throw notRunning(found?.state ?? "none");
  };
  const run: RunInContainer = (project, { input, ...command }, signal) =>
    runToEnd(() => exec(project, command), input, signal);

  return {
    find,
    run,
    logOf,
    usedBy,
    engine,
    /** Starts the container when it does not run. */
    exec,
    /** CONFLICT when the container does not run. */
    execRunning: (project: Project, spec: ExecSpec): Promise<ExecProcess> =>
      execIn(project, () => findRunning(project), spec),
    /** Serves the tools of a workspace: NO_SPACE while the project uses more than its disk limit. */
    async execTools(project: Project, { argv, cwd, env }: ToolsSpec): Promise<ExecProcess> {
      const { disk_mb } = project.limits;
      if (disk_mb !== undefined) {
        const used = await usedBy(project.id, disk_mb * MEGABYTE);
        if (used > disk_mb * MEGABYTE) throw new ToolError("NO_SPACE", diskFull(used, disk_mb), {});
      }
      return exec(project, { cwd, ...(argv ? { argv, env } : options.toolsOf(cwd)) });
    },
    start: (project: Project, _workspace_id?: string) => inTurn(project.id, () => start(project)),
    /**
     * Waits until a host has the workspace; on the hub's machine it is there already. The result says whether that host
     * was lost since, so that the hub has to make room again.
     */
    makeRoom:
      async (_project: Project, _workspace_id: string, _waiting: Waiting): Promise<() => boolean> =>
      () =>
        false,
    stop: (project_id: string) =>
      inTurn(project_id, async () => {
        const found = await find(project_id);
        if (found) await stopFound(project_id, found);
      }),
    remove: (project_id: string) => inTurn(project_id, () => removeFound(project_id)),
    /** Creates it again, from the current settings of its project. */
    refresh: (project: Project) =>
      inTurn(project.id, async () => {
        // First: where this fails, the container stays.
        const spec = await specOf(project, logOf(project.id).add, closing.signal);
        await removeFound(project.id);
        return start(project, spec);
      }),
    /** Each call of the result names the limits that were hit since the one before. */
    watchLimits(project: Project, _workspace_id?: string): () => Promise<readonly LimitHit[]> {
      const watch = createLimitWatch(engine);
      const first = find(project.id).then((found) => found && watch.check(found.id, project));
      first.catch(() => {});
      return async () => {
        await first;
        const found = await find(project.id);
        const hits = found ? await watch.check(found.id, project) : [];
        await guard.recount(project);
        const full = guard.fullOf(project);
        return full === undefined ? hits : [...hits, { limit: "disk_mb", message: full }];
      };
    },
    /** Copies what is new in a workspace to where it outlives its host; on the hub's machine it is there already. */
    save: async (_project: Project, _workspace_id: string): Promise<void> => {},
    /** Why commands in the container end: it is gone or stopped. undefined while it runs. */
    async explain(project: Project, _workspace_id?: string): Promise<string | undefined> {
      const found = await find(project.id);
      if (found?.state === "running") return undefined;
      const state = found && (await engine.inspect(found.id));
      const code = state?.exit_code === undefined ? "" : ` with exit code ${state.exit_code}`;
      const hits = found ? await createLimitWatch(engine).check(found.id, project) : [];
      const why = [guard.fullOf(project), ...hits.map(({ message }) => message)].filter(Boolean).join("; ");
      return `the container ${found ? `has stopped${code}` : "is gone"}${why && `: ${why}`}`;
    },
    /**
     * A container that a killed hub left running may have commands that nobody waits for, so it is stopped, and started
     * again when it is needed.
     */
    async recover(project_id: string): Promise<void> {
      const found = await find(project_id);
      if (found?.state !== "running") return;
      await engine.stop(found.id, 0);
      logOf(project_id).add("stopped: the hub that started it has ended");
      report("container.stopped", project_id);
    },
    /** Removes those of projects that are gone. */
    async removeStrangers(isProject: (project_id: string) => Promise<boolean>): Promise<void> {
      for (const found of await engine.list({ [HUB_LABEL]: hub_id }))
        if (!(await isProject(found.labels[PROJECT_LABEL] ?? ""))) await engine.remove(found.id);
    },
    forget: proxies.forget,
    /** Cancels what is being started, and stops those of this hub's projects; they are started again when they are needed. */
    async close(isOurs: (project_id: string) => boolean): Promise<void> {
      closing.abort();
      await Promise.all(working.values());
      const all = (await engine.list({ [HUB_LABEL]: hub_id })).filter(({ labels }) =>
        isOurs(labels[PROJECT_LABEL] ?? ""),
      );
      await Promise.all(all.map((found) => stopFound(found.labels[PROJECT_LABEL] ?? "", found)));
      guard.close();
      await proxies.closeAll();
    },
    /** Those of this hub, also of projects that are gone. */
    list: () => engine.list({ [HUB_LABEL]: hub_id }),
    projectOf: ({ labels }: ContainerState): string | undefined => labels[PROJECT_LABEL],
  };
}
