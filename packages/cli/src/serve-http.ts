import { once } from "node:events";
import { styleText } from "node:util";
import { ENDING_SIGNALS, EXIT, type Io, UsageError } from "./command.ts";
import type { HttpServing } from "./octant.ts";
import { openOctant } from "./open-octant.ts";
import { describeSandbox } from "./report-sandbox.ts";
import { pasteLines, type RunningServer } from "./setup/paste-lines.ts";
import { thisMachine } from "./setup/places.ts";

type OpenFlags = Parameters<typeof openOctant>[0];

export interface HttpFlags extends OpenFlags {
  readonly profile: HttpServing["profile"];
  readonly answers: "structured" | "text" | undefined;
  readonly port: string | undefined;
  readonly host: string | undefined;
  readonly "allow-host": readonly string[];
  readonly "allow-origin": readonly string[];
  readonly "public-url": string | undefined;
  readonly "tls-cert": string | undefined;
  readonly "tls-key": string | undefined;
  readonly "oauth-issuer": string | undefined;
  readonly sse: boolean;
  readonly json: boolean;
}

/** A token that is printed is for trying; one that lasts is made with octant token. */
const TOKEN_LIFE_MS = 24 * 60 * 60 * 1_000;

/** Serves until it is told to end, and says what a person does next. */
export async function serveHttp(flags: HttpFlags, io: Io): Promise<number> {
  const port = toPort(flags.port);
  await using octant = openOctant(flags, io);
  const serving = octant.serveHttp({
    profile: flags.profile,
    answers: flags.answers,
    host: flags.host,
    port,
    ...toTls(flags),
    ...toPublicUrl(flags),
    allowedOrigins: flags["allow-origin"],
    sse: flags.sse,
    ...(flags["oauth-issuer"] !== undefined && { oauth: { issuer: flags["oauth-issuer"] } }),
  });
  const server = await serving.catch(explainRefusal);
  const tokens = octant.tokens();
  const expires = new Date(Date.now() + TOKEN_LIFE_MS);
  const { id, token } = tokens.create({ scopes: ["admin"], name: "printed by octant serve", expires });
  // Before anybody can read that it can be ended.
  const asked = ENDING_SIGNALS.map((signal) => once(process, signal));
  const { url } = server;
  const asks = flags.permissions === "enforce";
  io.stdout.write(`${flags.json ? JSON.stringify({ url, token }) : nextSteps({ url, token }, asks, io)}\n`);
  io.stderr.write(`octant: ${await describeSandbox(octant.workspace.sandbox)}\n`);
  await Promise.race([...asked, server.closed]);
  // What still runs with the token may come to its end.
  await server.close();
  tokens.revoke(id);
  return EXIT.OK;
}

/** What to do when the system does not let us listen, or has no such file. */
const HINTS: Readonly<Record<string, string>> = {
  EADDRINUSE: "end what has the port, or leave out --port to get a free one",
  EADDRNOTAVAIL: "--host is an address of this machine",
  EACCES: "--port 7300, or another above 1023, is for everybody",
  ENOENT: "--tls-cert and --tls-key name PEM files",
};

function explainRefusal(cause: unknown): never {
  const hint = cause instanceof Error && "code" in cause ? HINTS[String(cause.code)] : undefined;
  if (hint === undefined || !(cause instanceof Error)) throw cause;
  throw new UsageError(cause.message, hint);
}

function nextSteps(server: RunningServer, asks: boolean, io: Io): string {
  const { url, token } = server;
  const title = (text: string) => styleText("bold", text, { stream: io.stdout });
  return [
    `${title("Octant serves this folder:")} ${url}`,
    `${title("Token")} (for a day; octant token create makes one that lasts): ${token}`,
    "",
    ...pasteLines(server, thisMachine(io)).flatMap(({ title: client, lines }) => [
      title(client),
      ...lines.map((line) => `  ${line}`),
    ]),
    title("Without a server that you start: octant setup registers octant serve in your clients"),
    title("By hand"),
    "  npx octant call fs.read uri=README.md",
    ...(asks ? [title("Calls that wait for your approval"), `  ${approvalsCall(url, token)}`] : []),
    "",
    "Ctrl-C ends it.",
  ].join("\n");
}

const approvalsCall = (url: string, token: string) =>
  `curl -H "Authorization: Bearer ${token}" ${new URL("/approvals", url)}`;

function toPort(text: string | undefined): number {
  if (text === undefined) return 0;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port < 65_536) return port;
  throw new UsageError(`--port is a number up to 65535, not '${text}'`, "octant serve --http --port 7300");
}

/** Who reaches us there says so in the Host header. */
function toPublicUrl({ "public-url": text, "allow-host": names }: HttpFlags) {
  if (text === undefined) return { allowedHosts: names };
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol))
    return { publicUrl: url.href, allowedHosts: [...names, url.hostname] };
  throw new UsageError(`--public-url is a URL, not '${text}'`, "--public-url https://octant.example/mcp");
}

function toTls({ "tls-cert": cert, "tls-key": key }: HttpFlags): Pick<HttpServing, "tls"> {
  if (cert !== undefined && key !== undefined) return { tls: { cert, key } };
  if (cert === undefined && key === undefined) return {};
  throw new UsageError("TLS needs both --tls-cert and --tls-key", "each names a PEM file");
}
