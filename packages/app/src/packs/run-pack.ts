import { randomBytes } from "node:crypto";
import { inspect } from "node:util";
import {
  type Caller,
  createClient,
  createCursors,
  createDispatcher,
  createRegistry,
  type Dispatch,
  ToolError,
} from "@octant/core";
import { createZmqClient, serveZmq, type ZmqServer } from "@octant/wire";
import { loadPack } from "./load-pack.ts";
import { CREDENTIALS, type CredentialsTool } from "./pack-credentials.ts";
import { readPack } from "./read-pack.ts";

export interface RunPackOptions {
  readonly folder: string;
  /** Where it serves its tools. */
  readonly address: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The pack's own data. */
  readonly data: string;
  readonly roots: readonly string[];
  /** The server that has the tools in `uses`; they cannot be called without it. */
  readonly host?: string;
  log(line: string): void;
}

/** The host: each request names the caller that it is for. */
const HOST: Caller = { id: "host", access: "admin" };

const refuseUndeclared: Dispatch = () => {
  const how = "name them in octant.uses and octant.rights.credentials of its package.json";
  throw new ToolError("UNSUPPORTED", `this pack declares no tools and no sign-ins of Octant; ${how}`, {
    what: "a tool or a sign-in of Octant",
    how,
  });
};

/** Serves the tools of a pack over HOOT01. Permissions, jobs and the audit log are those of the process that calls. */
export async function runPack(options: RunPackOptions): Promise<ZmqServer> {
  const { folder, settings, data, roots, host, log } = options;
  const found = readPack(folder);
  const uses = host === undefined ? undefined : createZmqClient({ address: host });
  const dispatchUsed: Dispatch = uses?.dispatch ?? refuseUndeclared;
  const pack = await loadPack(found, {
    settings,
    folder: data,
    roots,
    log,
    client: ({ caller, signal }) => createClient(dispatchUsed, { caller, signal }),
    credentials: (provider, { refused = false } = {}) =>
      createClient<CredentialsTool>(dispatchUsed, { caller: HOST })[CREDENTIALS].headers({
        provider,
        refused,
      }),
  });
  const registry = createRegistry(pack.tools);
  const dispatch = createDispatcher({
    registry,
    cursors: createCursors(randomBytes(32)),
    onBug: ({ call, cause }) => log(`bug in ${call.tool}.${call.action}: ${inspect(cause)}`),
  });
  const about = { name: found.pack, version: found.version, caller: HOST, log };
  const server = await serveZmq({ ...about, registry, dispatch, address: options.address });
  return {
    ...server,
    async close() {
      await server.close();
      uses?.close();
      await pack.close();
    },
  };
}
