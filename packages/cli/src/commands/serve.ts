import { createHandshakeCache } from "@octant/app";
import { ANSWERS, PROFILES } from "@octant/core";
import { answerHandshake } from "@octant/mcp";
import {
  defineCommand,
  ENDING_SIGNALS,
  EXIT,
  type Flags,
  type FlagValues,
  type Io,
  onSignals,
  UsageError,
} from "../command.ts";
import { natsFlags } from "../nats-flags.ts";
import { note } from "../output.ts";
import { zmqFlags } from "../wire-flags.ts";
import { checkpointFlags, permissionFlags, rootsOf, workspaceFlags } from "../workspace-flags.ts";

const serveFlags = {
  ...workspaceFlags,
  ...permissionFlags,
  ...checkpointFlags,
  profile: {
    summary: "List tools, or each action by itself",
    value: "PROFILE",
    choices: PROFILES,
    env: "OCTANT_PROFILE",
  },
  answers: {
    summary: "Answers as structured content, or as text for the model; by default as the client shows them",
    value: "HOW",
    choices: ANSWERS,
    env: "OCTANT_ANSWERS",
  },
  ...zmqFlags,
  wire: { summary: "Serve typed calls on stdin and stdout, for --host exec:… of another process" },
  nats: {
    summary: "With --http: serve the tools of workers on this NATS server instead of local tools",
    value: "URL",
    env: "OCTANT_NATS",
  },
  ...natsFlags,
  project: { summary: "For --nats: the project to use when workers serve several", value: "ID" },
  http: { summary: "Serve over HTTP and WebSocket instead", env: "OCTANT_HTTP" },
  port: {
    summary: "For --http: 0 picks a free port; by default, the port last used in this folder",
    value: "PORT",
    env: "OCTANT_PORT",
  },
  host: { summary: "For --http: 127.0.0.1 by default", value: "ADDRESS", env: "OCTANT_HOST" },
  "allow-host": { summary: "For --http: a host name that clients may use", value: "NAME", many: true },
  "allow-origin": {
    summary: "For --http: an origin whose pages may call this server",
    value: "ORIGIN",
    many: true,
  },
  "public-url": {
    summary: "For --http: the public URL of /mcp, as behind a proxy",
    value: "URL",
  },
  "tls-cert": { summary: "For --http: a PEM file, with --tls-key", value: "FILE" },
  "tls-key": { summary: "For --http: a PEM file, with --tls-cert", value: "FILE" },
  json: { summary: "For --http and --zmq: print the address and token as one line of JSON" },
  "no-console": { summary: "For --http: without the page at /console" },
  sse: { summary: "For --http: also the transport of 2024-11-05 (/sse)" },
  "oauth-issuer": {
    summary: "For --http: an authorisation server whose tokens are accepted",
    value: "URL",
  },
} as const satisfies Flags;

export type ServeFlags = FlagValues<typeof serveFlags>;

export const serve = defineCommand({
  name: "serve",
  summary: "Serve the tools: on stdin and stdout, over HTTP and WebSocket, or over ZeroMQ",
  flags: serveFlags,
  notes: `On stdin and stdout the server exits with 0 when stdin closes, or on SIGTERM, SIGINT or SIGHUP. It logs to stderr.
Over HTTP every client needs a token. The server prints one that stays the same for this folder; octant token creates
others. With --permissions enforce, calls from clients that cannot ask a person wait at /approvals for a token with
scope admin.
Over ZeroMQ other processes call without JSON (docs/wire.md). An ipc:/// address must be in a folder of mode 0700;
tcp:// needs --zmq-keys. With --http, both are served. With --wire a program that starts octant does the same on
stdin and stdout, such as octant run --host 'exec:podman exec -i box octant serve --wire'.`,
  async run({ flags }, io) {
    const { zmq } = flags;
    if (flags.wire) {
      redirectConsole();
      return (await import("../serve-wire.ts")).serveWire(flags, io);
    }
    if (zmq !== undefined && !flags.http)
      return (await import("../serve-zmq.ts")).serveZmq({ ...flags, zmq }, io);
    const { nats } = flags;
    if (nats !== undefined && flags.http)
      return (await import("../serve-nats-edge.ts")).serveNatsEdge({ ...flags, nats }, io);
    if (nats !== undefined)
      throw new UsageError(
        "--nats needs --http",
        "octant worker --nats URL works; serve --http --nats URL serves",
      );
    if (flags.http) return (await import("../serve-http.ts")).serveHttp(flags, io);
    redirectConsole();
    if (io.stdin.isTTY) await explainWaiting(io);
    const { stdin: input, stdout: output, env } = io;
    const cache = createHandshakeCache(flags, { env, roots: rootsOf(flags, io) });
    const results = cache?.load();
    const early = results && (await untilAskedToEnd(answerHandshake(input, output, results)));
    if (early?.ended) return EXIT.OK;
    const { serveStdio } = await import("../serve-stdio.ts");
    if (!early) return serveStdio(flags, io, { store: cache?.store });
    const { answered, offers } = early;
    return serveStdio(flags, io, { handshake: cache?.isCurrent() ? { answered, offers } : { answered } });
  },
});

/** Shown to a person who runs the command that clients are meant to start. */
async function explainWaiting(io: Io): Promise<void> {
  const { personCommand } = await import("../person-command.ts");
  const octant = personCommand(io);
  note(
    `octant: waiting for an MCP client to speak on stdin; ${octant} setup registers it in your clients, ${octant} serve --http serves over HTTP, Ctrl-C stops it`,
    io,
  );
}

/** Handles signals until there is something to close. */
async function untilAskedToEnd<T>(work: Promise<T>): Promise<T> {
  using _signals = onSignals(ENDING_SIGNALS, () => process.exit(EXIT.OK));
  return await work;
}

/** stdout carries the protocol; a stray console.log in some package must not break it. */
function redirectConsole(): void {
  console.log = console.error;
  console.info = console.error;
  console.debug = console.error;
}
