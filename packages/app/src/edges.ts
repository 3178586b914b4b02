import {
  type Caller,
  createWorker,
  type Dispatch,
  type DispatcherOptions,
  type Questions,
  type Worker,
} from "@octant/core";
import { backgroundClock, createGit, listRefNames, pathToUri, type Workspace } from "@octant/host";
import { createTokenStore } from "@octant/http";
import { createConnection, createService, type Outlet, serveHttp, serveStdio } from "@octant/mcp";
import type { ClientList } from "./control/client-list.ts";
import { createWireDispatch } from "./edge/edge-tool.ts";
import type { HostSources } from "./host/host-tool.ts";
import { mountApprovals } from "./http/mount-approvals.ts";
import type { FindRefs } from "./mcp/completions.ts";
import { createMcpFeatures } from "./mcp/features.ts";
import type { HttpServing, OctantOptions, StdioServing } from "./octant-api.ts";
import type { Parts } from "./tools/own-tools.ts";

/** The caller on this machine: the person who started the process, or a client of theirs. */
export const LOCAL_CALLER: Caller = { id: "local", access: "admin" };

/** Instructions for the model before its first call. */
export const INSTRUCTIONS = [
  "Call ws.detect first: it reports what the project is and how to build and test it.",
  "fs.read answers with a hash; fs.apply_patch needs it as base_hash, and its answer has an undo ref.",
  "An answer with meta.job_id is still running: job.poll waits for its result.",
  "What does not fit is behind a ref (fs.read) or meta.paging.cursor. Every tool has help and schema.",
].join(" ");

export interface EdgeParts
  extends Omit<Parts, "crew" | "models" | "browsers" | "screen" | "code" | "network"> {
  readonly dispatch: Dispatch;
  readonly shared: Pick<DispatcherOptions, "cursors" | "onBug"> & { readonly questions: Questions };
  readonly name: string;
  readonly about: OctantOptions["about"];
  readonly clients: ClientList;
  readonly openPlace: HostSources["openPlace"];
  log(line: string): void;
}

/** The ways in for MCP clients and wires. The questions in `approvals` can be answered over HTTP. */
export function createEdges(parts: EdgeParts, approvals: Questions | undefined) {
  const { registry, dispatch, workspace, watcher, version, mode, env, settings, name, log, clients } = parts;
  const { jobs, state } = workspace;
  const roots = workspace.confinement.roots.map(pathToUri);
  const git = () => createGit({ ...workspace, env, allow: settings.vcs });
  const refs: FindRefs = ({ signal }) => listRefNames(git().open(undefined, signal));
  const features = createMcpFeatures({ registry, dispatch, workspace, watcher, refs });
  const { resources } = features;
  const about = {
    name,
    version,
    instructions: INSTRUCTIONS,
    ...parts.about,
    caller: LOCAL_CALLER,
    secret: state.secret(),
  };
  return {
    ...createServers(
      { registry, dispatch, mode, log, roots, onClient: clients.add, ...features, ...about },
      workspace,
      approvals,
    ),
    wireDispatch: createWireDispatch({
      registry,
      dispatch,
      roots,
      jobs,
      resources,
      openPlace: parts.openPlace,
      ...parts.shared,
    }),
  };
}

function createServers(
  edge: Parameters<typeof createService>[0],
  { jobs, state }: Workspace,
  approvals: Questions | undefined,
) {
  const { dispatch, registry } = edge;
  const tokens = () => createTokenStore({ folder: state.folder("tokens") });
  let worker: Worker | undefined;
  let service: ReturnType<typeof createService> | undefined;
  /**
   * A server runs queued jobs, also those of other processes; one limited to a mode would refuse some of
   * them.
   */
  const startWorker = () => {
    if (edge.mode === undefined)
      worker ??= createWorker({ jobs, dispatch, registry, clock: backgroundClock });
  };
  return {
    tokens,
    async serveHttp(more: HttpServing = {}) {
      startWorker();
      const { caller: _caller, ...open } = edge;
      const access = { tokens: more.tokens ?? tokens(), project: more.project ?? state.id };
      const server = await serveHttp({ ...open, ...more, ...access });
      if (approvals) mountApprovals(server, approvals, { ...more, ...access });
      return server;
    },
    openConnection(caller: Caller, outlet: Outlet) {
      startWorker();
      service ??= createService(edge);
      return createConnection({ ...service, caller }, outlet);
    },
    serveStdio({ input = process.stdin, output = process.stdout, ...more }: StdioServing = {}) {
      startWorker();
      return serveStdio({ ...edge, input, output, ...more });
    },
    closeService: () => service?.close(),
    closeWorker: async () => worker?.close(),
  };
}
