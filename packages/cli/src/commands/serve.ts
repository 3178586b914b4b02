import { isWeaker } from "@octant/host";
import { ANSWERS, PROFILES } from "@octant/mcp";
import { defineCommand, EXIT, type Io } from "../command.ts";
import type { Octant, OwnTool } from "../octant.ts";
import { serveHttp } from "../serve-http.ts";
import { logLine, openOctant, permissionFlags, workspaceFlags } from "../workspace-flags.ts";

/** What was asked to end is gone within a second. */
const MAX_CLOSING_MS = 700;

export const serve = defineCommand({
  name: "serve",
  summary: "Serve the tools to MCP clients: on stdin and stdout, or over HTTP and WebSocket",
  flags: {
    ...workspaceFlags,
    ...permissionFlags,
    profile: {
      summary: "List tools, or each action by itself",
      value: "PROFILE",
      choices: PROFILES,
      env: "OCTANT_PROFILE",
    },
    answers: {
      summary: "Answers as structured content, or as text for clients that show text to the model",
      value: "HOW",
      choices: ANSWERS,
      env: "OCTANT_ANSWERS",
    },
    http: { summary: "Serve over HTTP and WebSocket instead", env: "OCTANT_HTTP" },
    port: {
      summary: "For --http; 0 picks a free one, as does leaving it out",
      value: "PORT",
      env: "OCTANT_PORT",
    },
    host: { summary: "For --http; 127.0.0.1 when absent", value: "ADDRESS", env: "OCTANT_HOST" },
    "allow-host": { summary: "For --http: a name under which clients reach us", value: "NAME", many: true },
    "allow-origin": { summary: "For --http: an origin whose pages may call us", value: "ORIGIN", many: true },
    "tls-cert": { summary: "For --http: a PEM file, with --tls-key", value: "FILE" },
    "tls-key": { summary: "For --http: a PEM file, with --tls-cert", value: "FILE" },
    sse: { summary: "For --http: also the transport of 2024-11-05 (/sse)" },
    "oauth-issuer": {
      summary: "For --http: an authorisation server whose tokens are good here",
      value: "URL",
    },
  },
  notes: `Over stdin and stdout it ends when stdin ends, and at SIGTERM, SIGINT or SIGHUP. The log is on stderr.
Over HTTP every client needs a token: a fresh one is printed, octant token makes others.`,
  async run({ flags }, io) {
    if (flags.http) return serveHttp(flags, io);
    keepStdoutClean();
    process.on("uncaughtException", (cause) => {
      logLine(`ends after an uncaught error: ${cause instanceof Error ? cause.stack : cause}`, io);
      process.exit(EXIT.FAILED);
    });
    await using octant = openOctant(flags, io);
    const server = octant.serveStdio({
      profile: flags.profile,
      answers: flags.answers,
      input: io.stdin,
      output: io.stdout,
    });
    tellWeakSandbox(octant, io);
    // Work that does not heed its cancellation must not keep the process.
    const endSoon = () => setTimeout(() => process.exit(EXIT.OK), MAX_CLOSING_MS).unref();
    io.stdin.once("end", endSoon);
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
      process.once(signal, () => {
        endSoon();
        server.close();
      });
    }
    await server.closed;
    // The jobs are cancelled first, so that none of them sees its process killed and takes that for its result.
    const closed = octant.close();
    await octant.workspace.processes.leave();
    await closed;
    return EXIT.OK;
  },
});

/** Not at once: the client has its first questions, and the test of the sandbox takes some milliseconds. */
const TELL_AFTER_MS = 1_000;

function tellWeakSandbox({ workspace }: Octant<OwnTool>, io: Io): void {
  const tell = async () => {
    const { level, detail } = await workspace.sandbox.status();
    if (isWeaker(level, "unshare")) logLine(`sandbox ${level}: ${detail}`, io);
  };
  setTimeout(() => void tell(), TELL_AFTER_MS).unref();
}

/** stdout is the protocol's; a stray console.log in some package must not break it. */
function keepStdoutClean(): void {
  console.log = console.error;
  console.info = console.error;
  console.debug = console.error;
}
