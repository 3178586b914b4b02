import { mkdirSync } from "node:fs";
import { availableParallelism, hostname } from "node:os";
import { join } from "node:path";
import { chooseClient, createOctant, type HttpServing, type Octant } from "@octant/app";
import type { Clock, Tool } from "@octant/core";
import { backgroundClock } from "@octant/host";
import { ANY_PROJECT } from "@octant/http";
import type { NatsAddress } from "@octant/wire";
import { containerTool } from "./containers/container-tool.ts";
import { type ContainersOptions, createContainers } from "./containers/containers.ts";
import { createProjectContainer } from "./containers/project-container.ts";
import { createProxies } from "./containers/proxies.ts";
import type { ContainerEngine } from "./engines/engine.ts";
import { mountEvents } from "./events/mount-events.ts";
import type { ListHosts } from "./hosts/hosted-containers.ts";
import type { Hosted } from "./hosts/open-hosted.ts";
import { imageTool } from "./images/image-tool.ts";
import { createImages } from "./images/images.ts";
import { createProjectFiles } from "./images/project-files.ts";
import { type InstallInContainer, writeContainerSettings } from "./install.ts";
import { createIdleTimers, type IdleTimers } from "./lifecycle/idle-timers.ts";
import { keepEvent, publishKept } from "./lifecycle/kept-events.ts";
import { createLifecycle } from "./lifecycle/lifecycle-events.ts";
import { lockFolder } from "./operations/folder-lock.ts";
import { createMetrics } from "./operations/metrics.ts";
import { mountOperations } from "./operations/mount-operations.ts";
import { createAtOwner } from "./peers/at-owner.ts";
import { joinPeers } from "./peers/join-peers.ts";
import type { Membership } from "./peers/membership.ts";
import { createPeerCalls } from "./peers/peer-calls.ts";
import { atAnother } from "./peers/peers.ts";
import { refuseShared } from "./peers/place.ts";
import { mountPreview } from "./preview/mount-preview.ts";
import { connectThrough, forwardArgv } from "./preview/port-connection.ts";
import { previewAction } from "./preview/preview-action.ts";
import { checkApart, type PreviewAddress, parsePreviewAddress } from "./preview/preview-address.ts";
import { createPreviewGrants } from "./preview/preview-grants.ts";
import { createPreviewProxy } from "./preview/preview-proxy.ts";
import { configLimits } from "./projects/limits-tool.ts";
import { openSpecTools } from "./projects/openspec-tools.ts";
import { createPartialProjects, type PartialProjects } from "./projects/partial-projects.ts";
import { findProject, type Project, ProjectLimits } from "./projects/project.ts";
import { projectTools } from "./projects/project-tool.ts";
import { scheduleTool } from "./schedules/schedule-tool.ts";
import { createScheduler } from "./schedules/scheduler.ts";
import { createCallerCalls } from "./sessions/caller-tools.ts";
import { type CleanUp, createCleanUp } from "./sessions/clean-up.ts";
import { createHubSessions, type HubSessions } from "./sessions/hub-sessions.ts";
import { describeProblem } from "./sessions/model-problem.ts";
import { createHubLogs } from "./sessions/session-logs.ts";
import { callerToolResponse, sessionTool } from "./sessions/session-tool.ts";
import { openHubStore } from "./store/open-hub-store.ts";
import { openHubTokens } from "./tokens/hub-tokens.ts";
import { tokenTool } from "./tokens/token-tool.ts";
import { createWebhookNetwork } from "./webhooks/webhook-network.ts";
import { webhookTool } from "./webhooks/webhook-tool.ts";
import { createWebhooks, type Webhooks } from "./webhooks/webhooks.ts";
import { createRepositories } from "./workspaces/repositories.ts";
import { workspaceTool } from "./workspaces/workspace-tool.ts";
import { createWorkspaces, type Workspace } from "./workspaces/workspaces.ts";

export interface HubOptions {
  /** Where the hub keeps everything; only its owner can read it. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** The container engine: on this machine, or hosts that pull work from a NATS server. */
  readonly engine: ContainerEngine | { readonly nats: NatsAddress };
  readonly install: InstallInContainer;
  readonly log: (line: string) => void;
  /** The time of schedules and of timers; the machine's when absent. */
  readonly clock?: Clock;
  /** Hosts of private networks and of this machine that webhooks may reach. */
  readonly netAllow?: readonly string[];
  /** The URL of a PostgreSQL database for the hub's state; a file in the folder when absent. */
  readonly database?: string;
  /** Where previews of ports are, such as https://*.preview.example.com; below localhost when absent. */
  readonly previewUrl?: string;
  /** How long the other hubs of the database wait for one that does not report. */
  readonly lifeMs?: number;
}

export type Hub = Awaited<ReturnType<typeof createHub>>;

/** Projects, containers, workspaces and tokens for many people, served over MCP. */
export async function createHub(options: HubOptions) {
  const { folder, env, install, log, clock = backgroundClock, netAllow = [] } = options;
  const network = createWebhookNetwork({ env, netAllow, log });
  const place = (name: string) => {
    const path = join(folder, name);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Hubs of a database may share the folder.
  const lock = options.database === undefined ? await lockFolder(folder) : undefined;
  if (lock) refuseShared(folder);
  // Its tools name no files: this root stays empty.
  const roots = [place("root")];
  const projectsFolder = place("projects");
  const store = await openHubStore({ folder, database: options.database, log });
  // A hub that cannot start must not keep its process alive.
  await using opened = new AsyncDisposableStack();
  opened.defer(() => store.close());
  const tokens = await openHubTokens(store, log);
  const membership: Membership = await joinPeers({
    ...{ store, folder, clock, log, lifeMs: options.lifeMs, hosted: "nats" in options.engine },
    reach: async (project) => (partial.isLeft(project) ? undefined : hosted.kept?.reach(project)),
    async onGained({ id }) {
      if (await partial.settle(id)) return;
      await webhooks.recover(id);
      await workspaces.cleanUp(id);
      await containers.recover(id);
      await sessions.resume(id);
      await scheduler.recover(id);
    },
    async onLost(id) {
      await sessions.abandon(id);
      containers.forget(id);
    },
  });
  const lifecycle = createLifecycle(clock.now);
  const report: ContainersOptions["report"] = (type, project_id) =>
    void lifecycle.publish({ type, project_id });
  const owns = (project_id: string) => membership.owns(project_id);
  const { atOwner, runHere } = createAtOwner({
    ownerOf: (id) => membership.ownerOf(id),
    pass: async (...call) => peerCalls?.pass(...call),
  });
  const repositories = createRepositories({
    ...{ folder: projectsFolder, env },
    keep: async (id) => hosted.kept?.keep(id),
  });
  const inProject = (id: string, name: string) => place(`projects/${id}/${name}`);
  const proxies = createProxies({ folder: join(folder, "proxies"), install });
  const files = createProjectFiles({ repositories, folder: place("archives") });
  const hosted: Pick<Hosted, "engine"> & Partial<Hosted> =
    "nats" in options.engine
      ? await (await import("./hosts/open-hosted.ts")).openHosted(options.engine.nats, {
          ...{ store, files, repositories, owns, report, log, folder: place("archives") },
          folderOf: (id) => place(`projects/${id}`),
        })
      : { engine: options.engine };
  const { engine } = hosted;
  opened.defer(() => engine.close());
  const hosts: ListHosts =
    hosted.hosts ??
    (async () => {
      const { length } = await store.records<Workspace>("workspace").list({});
      return [{ name: hostname(), workspaces: length }];
    });
  const images = { ...createImages({ engine, files }), ...hosted.images };
  const foldersOf = (id: string) => ({
    workspaces: workspaces.folderOf(id),
    cache: inProject(id, "cache"),
    settings: inProject(id, "settings"),
    prepared: inProject(id, "prepared"),
  });
  const projectContainer = createProjectContainer({ images, install, proxies, foldersOf });
  const containers =
    hosted.containers ??
    createContainers({
      ...{ engine, hub_id: folder, proxies, report, log, specOf: projectContainer.specOf },
      ...{ toolsOf: install.toolsOf, install_id: install.id },
      folderOf: (id) => place(`projects/${id}`),
      onUse: (id) => timers.use(id),
      writableOf: (id) => [workspaces.folderOf(id), inProject(id, "cache")],
    });
  opened.defer(() => containers.close(() => false));
  const workspaces = createWorkspaces({
    store,
    repositories,
    folder: projectsFolder,
    env,
    run: containers.run,
    hosted: hosted.hostedFiles,
  });
  const grants = createPreviewGrants();
  let previews: PreviewAddress | undefined;
  const addressOfPreviews = (): PreviewAddress => {
    previews ??= parsePreviewAddress(options.previewUrl ?? "http://*.localhost");
    return previews;
  };
  const proxy = createPreviewProxy({
    async connect({ project_id, port }) {
      const project = await findProject(store, project_id);
      const owner = await membership.ownerOf(project_id);
      if (owner) throw atAnother(owner);
      const argv = forwardArgv(install.node, port);
      return connectThrough(await containers.execRunning(project, { argv }), port);
    },
  });
  const logs = await createHubLogs(store.events, membership.isSure);
  opened.use(logs);
  const calls = createCallerCalls();
  const cleanUp: CleanUp = (...given) => createCleanUp(sessions, workspaces)(...given);
  const sessions: HubSessions = createHubSessions({
    ...{ store, logs, containers, workspaces, calls, log },
    env: { ...env, XDG_STATE_HOME: place("state") },
    // Hosts have their own measure of what they can take.
    startsAtOnce: hosted.hosts ? Number.POSITIVE_INFINITY : STARTS_PER_PROCESSOR * availableParallelism(),
    prepare: (project, workspace, cwd, signal) =>
      projectContainer.prepare(
        ...([containers, project, workspace, cwd, signal, hosted.preparedMark?.(workspace)] as const),
      ),
    toolsOf: (session) => [sessionTool({ store, sessions, logs, cleanUp, parent: session })],
    writeSettings: (project) => writeContainerSettings(inProject(project.id, "settings"), project),
    lifecycle,
    now: clock.now,
    eventsStored: () => webhooks.stored(),
  });
  const holder = store.peers?.hub_id ?? folder;
  const timers: IdleTimers = createIdleTimers({ store, containers, cleanUp, clock, owns, log });
  const scheduler = createScheduler({ store, sessions, lifecycle, clock, log, owns, holder });
  const webhooks: Webhooks = createWebhooks({ store, lifecycle, network, clock, log, holder });
  const modelOf = async (): Promise<{ models: readonly string[]; default_model?: string }> => {
    // Without credentials there is no model, and sessions say how to get them.
    const chosen = await chooseClient(octant, env, {}).catch(() => undefined);
    return chosen ? { models: [chosen.model], default_model: chosen.model } : { models: [] };
  };
  const projects = store.records<Project>("project");
  const partial: PartialProjects = createPartialProjects({
    ...{ projects, sessions, scheduler, tokens, workspaces, containers, repositories, lifecycle, webhooks },
    kept: hosted.kept,
  });
  const octant: Octant<Tool> = createOctant<Tool>({
    roots,
    env,
    log,
    name: "octant-hub",
    about: ABOUT,
    command: "hub",
    tools: ["job", "event"],
    customTools: [
      ...projectTools({
        store,
        engine,
        prepare: repositories.prepare,
        checkBranch: async (project) =>
          void (await repositories.resolve(project.id, `refs/heads/${await repositories.branchOf(project)}`)),
        claimNew(id) {
          partial.begin(id);
          return membership.claimNew(id);
        },
        async onCreated({ id }) {
          await membership.ownerOf(id);
          const created = { type: "project.created", project_id: id } as const;
          const stored = await projects.change(id, (project) =>
            keepEvent({ ...project, partial: undefined }, created, clock.now()),
          );
          partial.made(id);
          if (stored) publishKept(lifecycle, "project", stored);
        },
        dismantle: partial.dismantle,
        options: async () => ({
          engine: await engine.status(),
          hosts: await hosts(),
          ...(await modelOf()),
          default_limits: ProjectLimits.parse({}),
          token_scopes: ["admin", "admin:ro", "project:<id>", "project:<id>:ro"],
        }),
      }).map((tool) => atOwner<Tool>(tool, ["get"])),
      atOwner(
        containerTool({
          ...{ store, containers, workspaces },
          outputsOf: (id) => inProject(id, "outputs"),
          activeIn: async (id) =>
            (await sessions.list(id)).filter(({ state }) => state === "working").map(({ id: one }) => one),
          preview: previewAction({ store, grants, address: addressOfPreviews }),
        }),
        ["preview"],
      ),
      atOwner(
        imageTool({
          ...{ store, engine, images, folder: place("archives") },
          note: (id, line) => containers.logOf(id).add(line),
        }),
      ),
      atOwner(
        workspaceTool({
          ...{ store, workspaces, repositories, activeIn: sessions.activeIn },
          onMerged: ({ id, project_id }) =>
            lifecycle.publish({ type: "workspace.merged", project_id, workspace_id: id }),
        }),
        ["list"],
      ),
      atOwner(sessionTool({ store, sessions, logs, cleanUp }), ["get", "list", "events"]),
      ...openSpecTools({ store, repositories, workspaces }).map((tool) => atOwner<Tool>(tool)),
      atOwner(configLimits(store, sessions)),
      atOwner(callerToolResponse(calls, store)),
      tokenTool(tokens, store),
      atOwner(scheduleTool({ store, scheduler, now: clock.now }), ["list", "get", "upcoming", "history"]),
      webhookTool({ store, webhooks, network, now: clock.now }),
    ],
  });
  await containers.removeStrangers(async (id) => (await projects.get(id)) !== undefined);
  const peerCalls =
    store.peers &&
    (await createPeerCalls({ peers: store.peers, runHere, canJudge: membership.canJudge, log }));
  await membership.start();
  scheduler.start();
  const metrics = createMetrics(store, lifecycle, sessions.workingCount);
  let draining: Promise<void> | undefined;
  const drain = async (): Promise<void> => {
    await scheduler.close();
    await timers.close();
    await sessions.close(DRAIN_MS);
  };
  opened.move();
  return {
    octant,
    /** Why sessions whose project names no model will fail; undefined when they will not. */
    async modelProblem(): Promise<string | undefined> {
      return chooseClient(octant, env, {}).then(() => undefined, describeProblem);
    },
    store,
    tokens,
    containers,
    workspaces,
    sessions,
    scheduler,
    lifecycle,
    cleanUp,
    /** The token of the person who started the hub; the one of the last start is revoked. */
    async adminToken() {
      const living = new Set((await store.peers?.living())?.map(({ id }) => startToken(id)));
      for (const { id, name = "" } of await tokens.list())
        if (name.startsWith(START_TOKEN) && !living.has(name)) await tokens.revoke(id);
      return tokens.create({ name: startToken(store.peers?.hub_id), scope: "admin" });
    },
    async serve(serving: HttpServing = {}) {
      const server = await octant.serveHttp({ ...serving, tokens: tokens.check, project: ANY_PROJECT });
      mountEvents(server, { dispatch: octant.dispatch, logs, log });
      previews = parsePreviewAddress(options.previewUrl ?? `http://*.localhost:${server.port}`);
      checkApart(previews, serving.allowedHosts ?? []);
      mountPreview(server, { dispatch: octant.dispatch, address: previews, grants, proxy });
      mountOperations(server, {
        metrics,
        store,
        problem: () => (draining ? "stopping" : membership.problem),
      });
      return server;
    },
    /** Takes no new work and lets running tool calls end; what it serves can still be read. */
    drain(): Promise<void> {
      draining ??= drain();
      return draining;
    },
    async [Symbol.asyncDispose]() {
      draining ??= drain();
      await draining;
      await peerCalls?.close();
      // First: calls wait for containers that start.
      await containers.close(owns);
      await octant.close();
      await webhooks.close();
      await membership.close();
      await network.close();
      tokens[Symbol.dispose]();
      await engine.close();
      await logs[Symbol.asyncDispose]();
      await store.close();
      metrics[Symbol.dispose]();
      await lock?.[Symbol.asyncDispose]();
    },
  };
}

const START_TOKEN = "printed by octant hub";
const startToken = (hub_id: string | undefined): string =>
  hub_id === undefined ? START_TOKEN : `${START_TOKEN} ${hub_id}`;
/** How long running tool calls may continue when the hub is stopped. */
const DRAIN_MS = 10_000;
/** Sessions that start their tools at the same moment. */
const STARTS_PER_PROCESSOR = 2;

const ABOUT = {
  description: "Projects, containers and agent sessions for many people.",
  instructions: [
    "project.create makes a project of a git URL or a folder; session.spawn gives an agent a task in a workspace of its own.",
    'session.events with until: "idle" waits for its end; session.message continues it.',
    "workspace.diff shows what it did, workspace.merge takes it over. Every tool has help and schema.",
  ].join(" "),
};
