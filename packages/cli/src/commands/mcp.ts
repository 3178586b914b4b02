import { text as readAll } from "node:stream/consumers";
import {
  findNewServers,
  IMPORTED_FROM,
  listServers,
  openServers,
  serverNamed,
  signInToServer,
  signOutOfServer,
  targetOf,
} from "@octant/app";
import { attempt, counted, toOneLine } from "@octant/core";
import { MachineGrant, type McpServers } from "@octant/mcp-client";
import { addUserServers, loadConfig, removeUserServer, type ServerSettings } from "@octant/runtime";
import { toColumns } from "../columns.ts";
import { defineCommand, EXIT, type FlagValues, type Io, print, printJson, UsageError } from "../command.ts";
import { openOctant } from "../open-octant.ts";
import { tell, toMachine } from "../person-command.ts";
import { readSecret, showAddress } from "../questions.ts";
import { logLine, rootsOf, workspaceFlags } from "../workspace-flags.ts";

const FLAGS = {
  root: workspaceFlags.root,
  env: { summary: "add: a variable for the program, NAME=VALUE", value: "NAME=VALUE", many: true },
  header: { summary: "add: a header for the address, 'Name: value'", value: "HEADER", many: true },
  "client-id": { summary: "login: a client that is registered with the server", value: "ID" },
  "client-secret": { summary: "login: the client has a secret, read from the terminal or stdin" },
  "client-metadata-url": { summary: "login: an address that describes the client", value: "URL" },
  machine: { summary: "login: sign in without a person, with a grant in JSON from stdin" },
  from: { summary: "import: only from this program", value: "PROGRAM", many: true },
  yes: { summary: "import: take all without asking" },
  json: { summary: "Print as JSON" },
} as const;

type Flags = FlagValues<typeof FLAGS>;

type Run = (flags: Flags, io: Io, name: string, words: readonly string[]) => Promise<number> | number;

/** The words after the verb; every verb but list and import needs a name. */
const VERBS: Readonly<Record<string, Run>> = {
  list,
  add,
  test,
  accept,
  login,
  logout,
  remove,
  import: importServers,
};

export const mcp = defineCommand({
  name: "mcp",
  summary: "Add, test and remove the MCP servers whose tools the agent may use",
  arguments: [
    { name: Object.keys(VERBS).join("|"), kind: Object.keys(VERBS) },
    { name: "NAME", optional: true },
    { name: "COMMAND or URL", many: true },
  ],
  flags: FLAGS,
  notes: `Servers are stored in your own settings. Their programs run in the sandbox, and their tools are called
mcp__<server>__<tool> in permission rules. A server that changes the definition of a tool is not run with it
until you accept the change. For example:
  octant mcp add docs -- npx -y @example/docs-server   a program; everything after -- is its own
  octant mcp add web https://mcp.example.com/mcp       an address: HTTP, SSE or WebSocket
  octant mcp test docs                                 start it and show its tools
  octant mcp login web                                 sign in where a server wants it
  octant mcp import                                    take over servers of ${IMPORTED_FROM.join(", ")}`,
  async run({ args: [verb = "", name, ...words], flags }, io) {
    if (name === undefined && VERBS[verb] !== list && VERBS[verb] !== importServers)
      throw new UsageError(`octant mcp ${verb} needs a NAME`, "octant mcp list shows the names");
    // The parser accepts only these verbs.
    return (VERBS[verb] as Run)(flags, io, name ?? "", words);
  },
});

function list(flags: Flags, io: Io): number {
  const rows = listServers(loadConfig({ roots: rootsOf(flags, io), env: io.env }));
  if (flags.json) return printJson(rows, io);
  if (rows.length === 0)
    return tell(
      "no MCP servers; octant mcp add NAME … adds one, octant mcp import copies those of other programs",
      io,
    );
  const shown = rows.map(({ name, kind, target, tier, disabled }) => [
    name,
    kind,
    toOneLine(target),
    tier,
    disabled ? "disabled" : "",
  ]);
  return print(toColumns([["name", "kind", "target", "from", ""], ...shown]).join("\n"), io);
}

async function add(flags: Flags, io: Io, name: string, words: readonly string[]): Promise<number> {
  const [target, ...args] = words;
  if (target === undefined)
    throw new UsageError(
      `octant mcp add ${name} needs a command or an address`,
      `octant mcp add ${name} -- npx -y some-server`,
    );
  await addUserServers({ [name]: toSettings(target, args, flags) }, { env: io.env });
  return tell(`added ${name}; octant mcp test ${name} tries it`, io);
}

function toSettings(target: string, args: readonly string[], { env, header }: Flags): ServerSettings {
  if (/^(https?|wss?):\/\//i.test(target)) {
    if (args.length > 0 || env.length > 0)
      throw new UsageError(
        "arguments and --env do not apply to an address",
        "--header 'Name: value' sends a header",
      );
    return {
      url: target,
      ...(header.length > 0 && { headers: pairs(header, /^([^:]+):\s*(.*)$/s, "--header") }),
    };
  }
  if (header.length > 0)
    throw new UsageError("--header does not apply to a program", "--env NAME=VALUE sets a variable");
  return {
    command: target,
    args: [...args],
    ...(env.length > 0 && { env: pairs(env, /^([^=]+)=(.*)$/s, "--env") }),
  };
}

function pairs(given: readonly string[], form: RegExp, flag: string): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const [, name, value] = form.exec(text) ?? [];
      if (name === undefined || value === undefined)
        throw new UsageError(
          `${flag} '${text.slice(0, SHOWN_CHARS)}' is not a name and a value`,
          "octant mcp --help shows the forms",
        );
      return [name, value];
    }),
  );
}

const SHOWN_CHARS = 20;

async function test(flags: Flags, io: Io, name: string): Promise<number> {
  return withServer(name, flags, io, async (servers) => {
    await servers.settled();
    const [status] = servers.status();
    if (flags.json) printJson({ ...status, listed: servers.tools() }, io);
    else show(servers, io);
    return status?.state === "ready" ? EXIT.OK : EXIT.FAILED;
  });
}

function show(servers: McpServers, io: Io): void {
  const [status] = servers.status();
  const tools = servers.tools();
  if (!status) return;
  const { server, state, reason, version = "", protocol = "", problems } = status;
  print(`${server}: ${state}${version && ` (${toOneLine(version)}, MCP ${protocol})`}`, io);
  if (reason !== undefined) print(`  ${toOneLine(reason)}`, io);
  for (const problem of problems) print(`  left out: ${toOneLine(problem)}`, io);
  const rows = [
    ...tools.map(({ name, description, changed }) => [changed ? `${name} (changed)` : name, description]),
    ...servers.prompts().map(({ prompt, description }) => [`/${server}:${prompt}`, description]),
    ...servers.resources().map(({ uri, name, description }) => [`@${server}:${uri}`, description || name]),
  ].map(([name = "", description = ""]) => [
    toOneLine(name),
    toOneLine(description.split("\n", 1)[0] ?? "").slice(0, MAX_SUMMARY_CHARS),
  ]);
  if (rows.length > 0) print(toColumns(rows).join("\n"), io);
  if (tools.some(({ changed }) => changed))
    tell(`changed tools are not run; octant mcp accept ${server} takes them`, io);
}

const MAX_SUMMARY_CHARS = 100;

async function accept(flags: Flags, io: Io, name: string): Promise<number> {
  return withServer(name, flags, io, async (servers) => {
    const count = await servers.accept(name);
    return print(`accepted ${counted(count, "tool")} of ${name} in the present form`, io);
  });
}

async function remove(_flags: Flags, io: Io, name: string): Promise<number> {
  await removeUserServer(name, { env: io.env });
  return print(`removed ${name}`, io);
}

async function withServer(
  name: string,
  flags: Flags,
  io: Io,
  work: (servers: McpServers) => Promise<number>,
): Promise<number> {
  await using octant = await openOctant({ root: flags.root }, io);
  serverNamed(name, octant.config.settings);
  await using servers = openServers({ octant, env: io.env, only: [name], log: (line) => logLine(line, io) });
  return await work(servers);
}

async function importServers(flags: Flags, io: Io): Promise<number> {
  const unknown = flags.from.find((one) => !IMPORTED_FROM.some((known) => known === one));
  if (unknown !== undefined)
    throw new UsageError(
      `nothing can be imported from '${unknown}'`,
      `programs: ${IMPORTED_FROM.join(", ")}`,
    );
  const { settings } = loadConfig({ roots: rootsOf(flags, io), env: io.env });
  const chosen = flags.from.length > 0 ? flags.from : undefined;
  const { found, fresh } = findNewServers(toMachine(io), settings, chosen);
  const rows = fresh.map(({ client, name, server }) => [name, client, toOneLine(targetOf(server))]);
  if (flags.json && !flags.yes)
    return printJson(
      rows.map(([name, from, target]) => ({ name, from, target })),
      io,
    );
  if (fresh.length === 0) return print(`nothing to import: ${found} servers found, none of them new`, io);
  print(toColumns([["name", "from", "target"], ...rows]).join("\n"), io);
  if (!flags.yes) return print("nothing was changed; --yes adds these to your settings", io);
  await addUserServers(Object.fromEntries(fresh.map(({ name, server }) => [name, server])), { env: io.env });
  return print(`added ${fresh.map(({ name }) => name).join(", ")}`, io);
}

async function login(flags: Flags, io: Io, name: string): Promise<number> {
  const { settings } = loadConfig({ roots: rootsOf(flags, io), env: io.env });
  // Before anything is asked.
  serverNamed(name, settings);
  await signInToServer(name, {
    env: io.env,
    settings,
    ...(flags.machine ? { grant: await readGrant(io) } : { client: await readClient(flags, io) }),
    clientMetadataUrl: flags["client-metadata-url"],
    open: (page) => showAddress(page, io),
  });
  return print(`signed in to ${name}`, io);
}

async function logout(_flags: Flags, io: Io, name: string): Promise<number> {
  const wasSignedIn = await signOutOfServer(name, io.env);
  return print(wasSignedIn ? `signed out of ${name}` : `not signed in to ${name}`, io);
}

async function readClient({ "client-id": client_id, "client-secret": isSecret }: Flags, io: Io) {
  if (client_id === undefined) {
    if (isSecret) throw new UsageError("--client-secret belongs to --client-id", "octant mcp --help");
    return undefined;
  }
  return { client_id, ...(isSecret && { client_secret: await readSecret("Client secret: ", io) }) };
}

/** Secrets do not belong in arguments, so the whole grant comes from stdin. */
async function readGrant(io: Io): Promise<MachineGrant> {
  const { success, data } = MachineGrant.safeParse(await readJson(io));
  if (success) return data;
  throw new UsageError(
    "--machine reads a grant as JSON from stdin",
    'such as {"kind": "client_secret", "client_id": "…", "client_secret": "…"}; other kinds: private_key, workload, enterprise',
  );
}

async function readJson({ stdin }: Io): Promise<unknown> {
  const text = await readAll(stdin);
  return attempt(() => JSON.parse(text));
}
