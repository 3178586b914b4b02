import { once } from "node:events";
import { existsSync } from "node:fs";
import { INSTRUCTIONS, LOCAL_CALLER, type Octant, type OwnTool } from "@octant/app";
import { ToolError } from "@octant/core";
import { pathToUri } from "@octant/host";
import {
  createKeys,
  createNatsWorker,
  loadKeys,
  serveZmq as serve,
  serveStream,
  type ZmqServer,
} from "@octant/wire";
import { ENDING_SIGNALS, EXIT, type Io, onSignals, print, UsageError } from "./command.ts";
import type { ServeFlags } from "./commands/serve.ts";
import { toNatsAddress } from "./nats-flags.ts";
import { openOctant } from "./open-octant.ts";
import { loadVersion } from "./version.ts";
import { logLine } from "./workspace-flags.ts";

type ZmqFlags = ServeFlags & { readonly zmq: string };

/** Programs on the wire store and link their results; subscribers of broadcasts catch up with `event`. */
export const WIRE_TOOLS = { toolConfig: { enable: ["core", "wire", "store"] } };

/** Serves other processes until it is asked to stop. */
export async function serveZmq(flags: ZmqFlags, io: Io): Promise<number> {
  await using octant = await openOctant(flags, io, { ...WIRE_TOOLS, command: "serve --zmq" });
  const server = await startZmq(octant, flags, io);
  const { address, broadcast } = server;
  return await announce(
    flags.json ? JSON.stringify({ address, broadcast }) : nextSteps(server, flags),
    server,
    io,
  );
}

/** Serves the process that started this one, until it closes stdin. */
export async function serveWire(flags: ServeFlags, io: Io): Promise<number> {
  await using octant = await openOctant(flags, io, { ...WIRE_TOOLS, command: "serve --wire" });
  const { stdin: input, stdout: output } = io;
  const server = serveStream({ ...toServed(octant, io), input, output, caller: LOCAL_CALLER });
  using _signals = onSignals(ENDING_SIGNALS, server.close);
  await server.closed;
  return EXIT.OK;
}

export interface WorkerFlags
  extends Readonly<Parameters<typeof openOctant>[0]>,
    Readonly<Parameters<typeof toNatsAddress>[1]> {
  readonly nats: string;
  readonly project: string | undefined;
  readonly json: boolean;
}

const PROJECT_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Works for a NATS server until it is asked to stop; running jobs then move to another worker. */
export async function runWorker(flags: WorkerFlags, io: Io): Promise<number> {
  if (flags.project !== undefined && !PROJECT_ID.test(flags.project))
    throw new UsageError(
      `invalid project '${flags.project}'`,
      "a project's id has up to 64 letters, digits, dots, dashes and underscores",
    );
  await using octant = await openOctant(flags, io, { command: "worker" });
  const worker = await createNatsWorker({
    ...toServed(octant, io),
    ...toNatsAddress(flags.nats, flags, io),
    project: flags.project ?? octant.workspace.state.id,
    // The edge and its callers may be on another machine.
    caller: { ...LOCAL_CALLER, remote: true },
  }).catch(explainNats);
  const { project, state } = worker;
  const said = `Octant ${state === "active" ? "works" : "stands by"} for ${project}; Ctrl-C ends it.`;
  return await announce(flags.json ? JSON.stringify({ project, state }) : said, worker, io);
}

/** Prints where a server is, and closes it when the process is asked to end. */
export async function announce(said: string, server: { close(): unknown }, io: Io): Promise<number> {
  // Installed before the announcement: a reader of it may send a signal at once.
  const asked = ENDING_SIGNALS.map((signal) => once(process, signal));
  print(said, io);
  await Promise.race(asked);
  await server.close();
  return EXIT.OK;
}

/** Every authenticated client acts for the person who started the server. */
export async function startZmq(
  octant: Octant<OwnTool>,
  flags: Pick<ZmqFlags, "zmq" | "zmq-keys">,
  io: Io,
): Promise<ZmqServer> {
  const { zmq: address, "zmq-keys": file } = flags;
  try {
    return await serve({
      ...toServed(octant, io),
      address,
      // CURVE encrypts too.
      ...(file !== undefined && { keys: existsSync(file) ? loadKeys(file) : createKeys(file, "curve") }),
      caller: address.startsWith("tcp:") ? { ...LOCAL_CALLER, remote: true } : LOCAL_CALLER,
    });
  } catch (cause) {
    if (!(cause instanceof ToolError) || cause.code === "INTERNAL") throw cause;
    throw new UsageError(
      cause.message,
      "octant serve --zmq ipc://$XDG_RUNTIME_DIR/octant/socket is for your own processes",
    );
  }
}

/** The service that both wires share. */
const toServed = (octant: Octant<OwnTool>, io: Io) => ({
  ...octant,
  dispatch: octant.wireDispatch,
  jobs: octant.workspace.jobs,
  roots: octant.workspace.confinement.roots.map(pathToUri),
  name: "octant",
  version: loadVersion(),
  instructions: INSTRUCTIONS,
  log: (line: string) => void logLine(line, io),
});

/** Turns a failure of the NATS server or its workers into an error that the person can act on. */
export const explainNats = (cause: unknown): never =>
  explain(cause, "docs/wire.md shows how workers and edges are started");

export const explainHosts = (cause: unknown): never =>
  explain(cause, "docs/hosts.md shows how hubs and hosts are started");

function explain(cause: unknown, hint: string): never {
  if (!(cause instanceof ToolError)) throw cause;
  throw new UsageError(cause.message, hint);
}

function nextSteps({ address, broadcast }: ZmqServer, flags: ZmqFlags): string {
  const keys = flags["zmq-keys"] === undefined ? "" : ` --keys ${flags["zmq-keys"]}`;
  return [
    `Octant serves this folder over ZeroMQ: ${address}`,
    `Broadcasts (job states, stream chunks): ${broadcast}`,
    "",
    `  octant call --via ${address}${keys} fs.read uri=README.md`,
    `  octant edge --via ${address}${keys}   serves it to MCP clients from another process`,
    "",
    "Ctrl-C ends it.",
  ].join("\n");
}
