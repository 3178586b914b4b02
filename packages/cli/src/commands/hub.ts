import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { counted, ToolError } from "@octant/core";
import { dataFolder } from "@octant/host";
import { defineCommand, ENDING_SIGNALS, EXIT, print, toPort, UsageError } from "../command.ts";
import { explainHosts, natsFlags, toNatsAddress } from "../nats-flags.ts";
import { note, printJsonText } from "../output.ts";
import { personCommand, thisInstall } from "../person-command.ts";

import { logLine } from "../workspace-flags.ts";

const DEFAULT_PORT = 7320;

export const hub = defineCommand({
  name: "hub",
  summary: "Serve projects, workspaces and agent sessions to many people over MCP",
  arguments: [
    { name: "backup|restore", kind: ["backup", "restore"], optional: true },
    { name: "FILE", optional: true },
  ],
  flags: {
    folder: { summary: "Where the hub keeps everything; default ~/.local/share/octant/hub", value: "DIR" },
    engine: {
      summary: "auto (the default), local, podman, docker, or the URL of a socket",
      value: "ENGINE",
    },
    database: {
      summary: "postgres://… for the hub's records and events; without it they are a file in the folder",
      value: "URL",
      env: "OCTANT_HUB_DATABASE",
    },
    nats: {
      summary: "Containers run on the hosts of this NATS server (octant host) instead of this machine",
      value: "URL",
      env: "OCTANT_NATS",
    },
    ...natsFlags,
    port: { summary: `Default ${DEFAULT_PORT}; 0 picks a free port`, value: "PORT" },
    host: { summary: "Default 127.0.0.1", value: "ADDRESS" },
    "allow-host": { summary: "A host name that clients may use", value: "NAME", many: true },
    "net-allow": {
      summary: "Hosts in private networks that webhooks may reach, as host:port,…",
      value: "LIST",
      env: "OCTANT_NET_ALLOW",
    },
    "preview-url": {
      summary: "Where ports of containers are shown; default http://*.localhost:PORT",
      value: "https://*.DOMAIN",
    },
    json: { summary: "Print URL and token as one line of JSON" },
  },
  notes: `The agent's loop runs in the hub, with your API keys; its tools run in a container of the project, which has
neither the keys nor, by default, a network. docs/hub.md describes everything. Any MCP client can call its
tools, also the agent of octant itself:
  octant mcp add hub URL --header 'Authorization: Bearer TOKEN'
octant hub backup FILE saves everything, also while the hub runs; octant hub restore FILE fills an empty folder.`,
  async run({ args: [verb, file], flags }, io) {
    const { env } = io;
    const { database } = flags;
    const folder = resolve(io.cwd(), flags.folder ?? join(dataFolder(env), "hub"));
    const { backUpHub, chooseEngine, createHub, createPageTokens, restoreHub, toInstall } = await import(
      "@octant/hub"
    );
    if (verb !== undefined) {
      if (file === undefined)
        throw new UsageError(`octant hub ${verb} needs a FILE`, `octant hub ${verb} hub.tar.gz`);
      const work = verb === "backup" ? backUpHub : restoreHub;
      const { rows, projects, workspaces } = await work({
        ...{ folder, env, database },
        file: resolve(io.cwd(), file),
      }).catch(explainLocked);
      const what = [
        `${rows} records and events`,
        counted(projects.length, "project"),
        counted(workspaces.length, "workspace"),
      ].join(", ");
      return print(`${verb === "backup" ? `Saved to ${file}` : `Restored to ${folder}`}: ${what}`, io);
    }
    if (database !== env["OCTANT_HUB_DATABASE"] && URL.parse(database ?? "")?.password)
      note(
        "octant: other users of this machine can see the password of --database; set OCTANT_HUB_DATABASE",
        io,
      );
    const port = toPort(flags.port) ?? DEFAULT_PORT;
    await checkPort(port, flags.host);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const log = (line: string) => logLine(line, io);
    if (flags.nats !== undefined && flags.engine !== undefined)
      throw new UsageError(
        "--nats and --engine exclude each other",
        "octant host --engine chooses it on each host",
      );
    const engine =
      flags.nats === undefined
        ? await chooseEngine({ engine: flags.engine ?? "auto", env, folder, log })
        : { nats: toNatsAddress(flags.nats, flags, io) };
    const netAllow = flags["net-allow"]?.split(",").map((host) => host.trim());
    const install = toInstall(thisInstall().launcher);
    const previewUrl = flags["preview-url"];
    const opening = createHub({
      ...{ folder, env, engine, install, log },
      ...(netAllow && { netAllow }),
      ...(database !== undefined && { database }),
      ...(previewUrl !== undefined && { previewUrl }),
    });
    await using hub = await opening.catch(explainLocked).catch((cause: unknown) => {
      if (flags.nats === undefined || cause instanceof UsageError) throw cause;
      return explainHosts(cause);
    });
    const server = await hub.serve({
      host: flags.host,
      port,
      allowedHosts: flags["allow-host"],
    });
    const ended = ENDING_SIGNALS.map((signal) => once(process, signal));
    const { token } = await hub.adminToken();
    const { url } = server;
    const { mountConsole } = await import("../mount-console.ts");
    const pages = createPageTokens(hub.tokens);
    const { SESSION_LIFE_MS } = await import("@octant/console");
    const link = await mountConsole(
      server,
      hub.octant,
      { isHub: true, mint: () => pages.mint(SESSION_LIFE_MS), verify: pages.verify },
      io,
    );
    const page = link?.();
    if (flags.json)
      printJsonText(JSON.stringify({ url, token, ...(page !== undefined && { console: page }) }), io);
    else
      print(
        [
          ...(page === undefined ? [] : [`Console (opens once): ${page}`]),
          `Octant hub: ${url}`,
          `Token: ${token}`,
          "",
          ...nextSteps(personCommand(io), url),
        ].join("\n"),
        io,
      );
    note(`octant: containers: ${(await hub.containers.engine.status()).detail}`, io);
    void hub.modelProblem().then((problem) => problem && log(`no model yet: ${problem}`));
    await Promise.race([...ended, server.closed]);
    // Until then a balancer learns that it stops, and readers get the last events.
    await hub.drain();
    await server.close();
    return EXIT.OK;
  },
});

/** First, because a hub continues its sessions before it listens, and would cut them off again. */
async function checkPort(port: number, host = "127.0.0.1"): Promise<void> {
  const probe = createServer().listen(port, host);
  await once(probe, "listening");
  probe.close();
  await once(probe, "close");
}

/** Only another folder helps, not another attempt. */
function explainLocked(cause: unknown): never {
  const isLocked = cause instanceof ToolError && cause.code === "LOCKED";
  throw isLocked ? new UsageError(cause.message, "octant hub --folder DIR") : cause;
}

const nextSteps = (octant: string, url: string): readonly string[] => [
  "The token is new at every start; token.create makes lasting ones.",
  "Call its tools from a terminal:",
  `  OCTANT_TOKEN=<token> ${octant} call --via ${url} project.create name=demo source_url=https://…`,
  `Connect any MCP client to ${url} with the header Authorization: Bearer <token>, such as Octant's agent:`,
  `  ${octant} mcp add hub ${url} --header 'Authorization: Bearer <token>'`,
  "Ctrl-C stops it; sessions continue at the next start.",
];
