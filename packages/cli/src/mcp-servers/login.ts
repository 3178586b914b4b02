import { randomBytes } from "node:crypto";
import { text as readAll } from "node:stream/consumers";
import { createOAuthStorage, credentialName } from "@octant/app";
import { attempt, ToolError } from "@octant/core";
import { loginAsMachine, loginTo, MachineGrant } from "@octant/mcp-client";
import { createCredentialStore, type EffectiveSettings, loadConfig, openRedirect } from "@octant/runtime";
import { type Io, print, UsageError } from "../command.ts";
import { readSecret, showAddress } from "../questions.ts";
import { rootsOf } from "../workspace-flags.ts";

const STATE_BYTES = 32;

/** Alternatives to the usual sign-in. */
export interface LoginFlags {
  readonly root: readonly string[];
  readonly "client-id": string | undefined;
  readonly "client-secret": boolean;
  readonly "client-metadata-url": string | undefined;
  readonly machine: boolean;
}

/** Signs in to a remote server, or removes the sign-in. */
export async function loginToServer(
  name: string,
  verb: "login" | "logout",
  flags: LoginFlags,
  io: Io,
): Promise<number> {
  const store = createCredentialStore({ env: io.env });
  if (verb === "logout") {
    const had = store.load()[credentialName(name)] !== undefined;
    if (had) await store.change(credentialName(name), () => undefined);
    return print(had ? `signed out of ${name}` : `not signed in to ${name}`, io);
  }
  const server = serverNamed(name, loadConfig({ roots: rootsOf(flags, io), env: io.env }).settings);
  if (!("url" in server))
    throw new ToolError("UNSUPPORTED", `MCP server '${name}' is a program; give it keys with variables`, {
      what: "sign-in",
      how: "octant mcp add --env NAME=VALUE",
    });
  const { url } = server;
  const storage = createOAuthStorage(store, name, url);
  if (flags.machine) await loginAsMachine({ url, storage, grant: await readGrant(io) });
  else {
    const state = randomBytes(STATE_BYTES).toString("base64url");
    const client = await readClient(flags, io);
    await using redirect = await openRedirect((answer) => answer.get("state") === state);
    await loginTo({
      url,
      storage,
      redirectUri: redirect.uri,
      state,
      client,
      clientMetadataUrl: flags["client-metadata-url"],
      open: (page) => showAddress(page, io),
      received: () => redirect.received(new AbortController().signal),
    });
  }
  return print(`signed in to ${name}`, io);
}

/** The settings of a server; throws when there is none of this name. */
export function serverNamed(name: string, { mcp_servers: servers }: Pick<EffectiveSettings, "mcp_servers">) {
  const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (server) return server;
  const message = `there is no MCP server '${name}'; octant mcp list shows the configured servers`;
  throw new ToolError("NOT_FOUND", message, {});
}

async function readClient({ "client-id": client_id, "client-secret": isSecret }: LoginFlags, io: Io) {
  if (client_id === undefined) {
    if (isSecret) throw new UsageError("--client-secret belongs to --client-id", "octant mcp --help");
    return undefined;
  }
  return { client_id, ...(isSecret && { client_secret: await readSecret("Client secret: ", io) }) };
}

/** Secrets do not belong in arguments, so the whole grant comes from stdin. */
async function readGrant(io: Io): Promise<MachineGrant> {
  const { success, data } = MachineGrant.safeParse(parseJson(await readAll(io.stdin)));
  if (success) return data;
  throw new UsageError(
    "--machine reads a grant as JSON from stdin",
    'such as {"kind": "client_secret", "client_id": "…", "client_secret": "…"}; other kinds: private_key, workload, enterprise',
  );
}

const parseJson = (text: string): unknown => attempt(() => JSON.parse(text));
