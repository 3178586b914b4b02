import { once } from "node:events";
import { join } from "node:path";
import type { HttpServing, Octant, OwnTool } from "@octant/app";
import { describeSandbox, pasteLines, type RunningServer, serveOnSavedPort } from "@octant/app";
import { errnoOf, type StateFolder } from "@octant/host";
import type { TokenStore } from "@octant/http";
import type { HttpServer } from "@octant/mcp";
import { ENDING_SIGNALS, EXIT, type Io, toPort, UsageError } from "./command.ts";
import type { ServeFlags } from "./commands/serve.ts";
import { openOctant } from "./open-octant.ts";
import { note, painted, print, printJsonText, type Shown } from "./output.ts";
import { personCommand, toMachine } from "./person-command.ts";
import type { startZmq } from "./serve-zmq.ts";
import { logLine } from "./workspace-flags.ts";

const TOKEN_NAME = "printed by octant serve";

/** The served tools: local ones, or those of remote workers. */
export interface HttpTarget {
  serveHttp(options: HttpServing): Promise<HttpServer>;
  readonly state: StateFolder;
  readonly tokens: TokenStore;
  /** The served project, where it is not the current folder. */
  readonly subject?: string;
  /** Serves the console there, and returns how to make a link to it; absent where there is none. */
  readonly mountConsole?: (server: HttpServer) => Promise<(() => string) | undefined>;
  /** Shown once the server is announced. */
  readonly status: Promise<string>;
}

export async function serveHttp(flags: ServeFlags, io: Io): Promise<number> {
  checkFlags(flags);
  const wire = flags.zmq === undefined ? undefined : await import("./serve-wire.ts");
  await using octant = await openOctant(flags, io, { ...wire?.WIRE_TOOLS, command: "serve --http" });
  const zmq =
    flags.zmq === undefined ? undefined : await startZmqToo(octant, { ...flags, zmq: flags.zmq }, io);
  const { sandbox, state } = octant.workspace;
  const tokens = octant.tokens();
  const target = {
    ...{ ...octant, state, tokens, status: describeSandbox(sandbox) },
    ...(!flags["no-console"] && {
      mountConsole: async (server: HttpServer) => {
        const { mountOwnConsole } = await import("./mount-console.ts");
        return mountOwnConsole(server, octant, tokens, io);
      },
    }),
  };
  try {
    await serveUntilEnded(target, flags, io);
  } finally {
    await zmq?.close();
  }
  return EXIT.OK;
}

/** Validates the flags before anything is opened. */
export const checkFlags = (flags: ServeFlags): void => void toServing(flags);

const toServing = (flags: ServeFlags): HttpServing => ({
  profile: flags.profile,
  answers: flags.answers,
  host: flags.host,
  port: toPort(flags.port),
  ...toTls(flags),
  ...toPublicUrl(flags),
  allowedOrigins: flags["allow-origin"],
  sse: flags.sse,
  ...(flags["oauth-issuer"] !== undefined && { oauth: { issuer: flags["oauth-issuer"] } }),
});

/** Serves until it is asked to stop, and shows the person the next steps. */
export async function serveUntilEnded(target: HttpTarget, flags: ServeFlags, io: Io): Promise<void> {
  const { port: asked, ...serving } = toServing(flags);
  const serveOn = (port: number) => target.serveHttp({ ...serving, port });
  const server = await (asked === undefined
    ? serveOnSavedPort(serveOn, join(target.state.folder("http"), "port"), (port) =>
        logLine(
          `port ${port}, which clients know, is in use (another octant serve?); serving on a free port`,
          io,
        ),
      )
    : serveOn(asked)
  ).catch(explainFiles);
  const { token } = target.tokens.lasting({ scopes: ["admin"], name: TOKEN_NAME }, target.state.secret());
  // Installed before the announcement: a reader of it may send a signal at once.
  const ended = ENDING_SIGNALS.map((signal) => once(process, signal));
  const { url } = server;
  const asks = flags.permissions === "enforce";
  const page = (await target.mountConsole?.(server))?.();
  if (flags.json)
    printJsonText(JSON.stringify({ url, token, ...(page !== undefined && { console: page }) }), io);
  else for (const line of nextSteps({ url, token }, asks, target, io, page)) print(line, io);
  note(`octant: ${await target.status}`, io);
  await Promise.race([...ended, server.closed]);
  await server.close();
}

async function startZmqToo(octant: Octant<OwnTool>, flags: Parameters<typeof startZmq>[1], io: Io) {
  const { startZmq } = await import("./serve-zmq.ts");
  const server = await startZmq(octant, flags, io);
  logLine(`serves ZeroMQ at ${server.address}`, io);
  return server;
}

function explainFiles(cause: unknown): never {
  if (errnoOf(cause) !== "ENOENT" || !(cause instanceof Error)) throw cause;
  throw new UsageError(cause.message, "--tls-cert and --tls-key name PEM files");
}

function nextSteps(
  server: RunningServer,
  asks: boolean,
  { subject }: HttpTarget,
  io: Io,
  page: string | undefined,
): readonly Shown[] {
  const { url, token } = server;
  const title = (text: string) => painted("bold", text, io.stdout);
  const octant = personCommand(io);
  return [
    ...(page === undefined
      ? []
      : [[title("Console"), ` (opens once; ${octant} console prints another link): ${page}`], ""]),
    [title(`Octant serves ${subject ?? "this folder"}:`), ` ${url}`],
    [
      title("Token"),
      ` (stays the same for this folder until you revoke it with ${octant} token revoke): ${token}`,
    ],
    "",
    ...pasteLines(server, toMachine(io), octant).flatMap(({ title: client, lines }) => [
      title(client),
      ...lines.map((line) => `  ${line}`),
    ]),
    title(`Let your clients start Octant themselves: ${octant} setup`),
    title("By hand"),
    `  ${octant} call fs.read uri=README.md`,
    ...(asks ? [title("Calls that wait for your approval"), `  ${approvalsCall(url, token)}`] : []),
    "",
    "Ctrl-C stops it. The next start in this folder has the same address and token.",
  ];
}

const approvalsCall = (url: string, token: string) =>
  `curl -H "Authorization: Bearer ${token}" ${new URL("/approvals", url)}`;

/** Clients of the public URL send its name in the Host header. */
function toPublicUrl({ "public-url": text, "allow-host": names }: ServeFlags) {
  if (text === undefined) return { allowedHosts: names };
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol))
    return { publicUrl: url.href, allowedHosts: [...names, url.hostname] };
  throw new UsageError(
    `invalid --public-url '${text}': expected a URL`,
    "--public-url https://octant.example/mcp",
  );
}

function toTls({ "tls-cert": cert, "tls-key": key }: ServeFlags): Pick<HttpServing, "tls"> {
  if (cert !== undefined && key !== undefined) return { tls: { cert, key } };
  if (cert === undefined && key === undefined) return {};
  throw new UsageError("TLS needs both --tls-cert and --tls-key", "each names a PEM file");
}
