import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Caller,
  createCursors,
  createDispatcher,
  createRegistry,
  type Envelope,
  type ErrorBody,
  type Progress,
  type Reply,
} from "@octant/core";
import {
  createNetwork,
  createWorkspace,
  type FindOpener,
  LOCAL_POLICY,
  type NetworkOptions,
  type Workspace,
} from "@octant/host";
import { type NetOptions, net } from "../../src/net/index.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly caller?: Caller;
  readonly onProgress?: (update: Progress) => void;
}

export const LOCAL: Caller = { id: "local", access: "admin" };
export const REMOTE: Caller = { id: "remote", access: "admin" };

/** The net tool over an empty temporary workspace. */
export function createNetWorkspace(
  {
    policy,
    ...options
  }: Partial<Omit<NetworkOptions, "policy">> & { policy?: Partial<NetworkOptions["policy"]> } = {},
  desktop: NodeJS.ProcessEnv = {},
  stateHome?: string,
  findOpener?: FindOpener,
  search?: NetOptions["search"],
) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-net-")));
  const root = join(base, "ws");
  mkdirSync(root);
  const warnings: string[] = [];
  const workspace: Workspace = createWorkspace({
    roots: [root],
    env: { HOME: base, XDG_STATE_HOME: stateHome ?? join(base, "state") },
    warn: (message) => warnings.push(message),
  });
  const network = createNetwork({ ...options, policy: { ...LOCAL_POLICY, ...policy } });
  const isRemote = ({ id }: Caller) => id === REMOTE.id;
  const bugs: unknown[] = [];
  const dispatch = createDispatcher({
    registry: createRegistry([net({ workspace, network, env: desktop, isRemote, findOpener, search })]),
    cursors: createCursors(new Uint8Array(32)),
    onBug: (bug) => bugs.push(bug),
  });

  const reply = async (action: string, input: unknown, options: CallOptions = {}): Promise<Reply> => {
    const answer = await dispatch({ tool: "net", action, input }, { caller: LOCAL, ...options });
    // A bug must fail the test.
    for (const bug of bugs.splice(0)) throw (bug as { cause: unknown }).cause;
    return answer;
  };
  const call = async (action: string, input: unknown, options?: CallOptions): Promise<Envelope> =>
    (await reply(action, input, options)).envelope;

  return {
    root,
    base,
    workspace,
    network,
    reply,
    call,
    /** The data of a call that must succeed; each test knows its type. */
    // biome-ignore lint/suspicious/noExplicitAny: the data of any action.
    async ok(action: string, input: unknown, options?: CallOptions): Promise<any> {
      const envelope = await call(action, input, options);
      if (envelope.ok) return envelope.data;
      throw new Error(`net.${action}: ${envelope.error.code} ${envelope.error.message}`);
    },
    /** The error of a call that must fail. */
    async fail(action: string, input: unknown, options?: CallOptions): Promise<ErrorBody> {
      const envelope = await call(action, input, options);
      if (envelope.ok) throw new Error(`net.${action} succeeded: ${JSON.stringify(envelope.data)}`);
      return envelope.error;
    },
    async close() {
      await network.close();
      await workspace.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

export type NetWorkspace = ReturnType<typeof createNetWorkspace>;
