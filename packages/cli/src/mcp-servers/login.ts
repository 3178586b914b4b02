import { randomBytes } from "node:crypto";
import { ToolError } from "@octant/core";
import { loginTo } from "@octant/mcp";
import { type Config, createCredentialStore, openRedirect } from "@octant/runtime";
import { EXIT, type Io } from "../command.ts";
import { showAddress } from "../sign-in/show-address.ts";
import { createOAuthStorage, credentialName } from "./oauth-storage.ts";

const STATE_BYTES = 32;

/** Signs in to a server behind an address, or forgets the sign-in. */
export async function loginToServer(
  name: string,
  verb: "login" | "logout",
  { settings }: Config,
  io: Io,
): Promise<number> {
  const store = createCredentialStore({ env: io.env });
  if (verb === "logout") {
    const had = store.load()[credentialName(name)] !== undefined;
    if (had) await store.change(credentialName(name), () => undefined);
    io.stdout.write(had ? `signed out of ${name}\n` : `not signed in to ${name}\n`);
    return EXIT.OK;
  }
  const server = Object.hasOwn(settings.mcp_servers, name) ? settings.mcp_servers[name] : undefined;
  if (!server)
    throw new ToolError(
      "NOT_FOUND",
      `there is no MCP server '${name}'; octant mcp list shows the configured servers`,
      {},
    );
  if (!("url" in server))
    throw new ToolError("UNSUPPORTED", `MCP server '${name}' is a program; give it keys with variables`, {
      what: "sign-in",
      how: "octant mcp add --env NAME=VALUE",
    });
  const state = randomBytes(STATE_BYTES).toString("base64url");
  await using redirect = await openRedirect((answer) => answer.get("state") === state);
  await loginTo({
    url: server.url,
    storage: createOAuthStorage(store, name, server.url),
    redirectUri: redirect.uri,
    state,
    open: (url) => showAddress(url, io),
    received: () => redirect.received(new AbortController().signal),
  });
  io.stdout.write(`signed in to ${name}\n`);
  return EXIT.OK;
}
