import { randomBytes } from "node:crypto";
import { ToolError } from "@octant/core";
import { loginAsMachine, loginTo, type MachineGrant } from "@octant/mcp-client";
import { type Config, createCredentialStore, openRedirect } from "@octant/runtime";
import { serverNamed } from "./configured-servers.ts";
import { createOAuthStorage, credentialName } from "./open-servers.ts";

const STATE_BYTES = 32;

export interface ServerSignIn {
  readonly env: NodeJS.ProcessEnv;
  readonly settings: Config["settings"];
  /** Signs in without a person. */
  readonly grant?: MachineGrant | undefined;
  /** A client that is registered with the server. */
  readonly client?: { readonly client_id: string; readonly client_secret?: string } | undefined;
  readonly clientMetadataUrl?: string | undefined;
  /** Shows the server's page to the person. */
  open(page: string): void;
}

/** Signs in to the remote MCP server of this name, and stores the sign-in. */
export async function signInToServer(
  name: string,
  { env, settings, grant, client, clientMetadataUrl, open }: ServerSignIn,
): Promise<void> {
  const server = serverNamed(name, settings);
  if (!("url" in server))
    throw new ToolError("UNSUPPORTED", `MCP server '${name}' is a program; give it keys with variables`, {
      what: "sign-in",
      how: "octant mcp add --env NAME=VALUE",
    });
  const { url } = server;
  const storage = createOAuthStorage(createCredentialStore({ env }), name, url);
  if (grant) return loginAsMachine({ url, storage, grant });
  const state = randomBytes(STATE_BYTES).toString("base64url");
  await using redirect = await openRedirect((answer) => answer.get("state") === state);
  await loginTo({
    url,
    storage,
    redirectUri: redirect.uri,
    state,
    client,
    clientMetadataUrl,
    open,
    received: () => redirect.received(new AbortController().signal),
  });
}

/** Removes the sign-in to a server; false when there was none. */
export async function signOutOfServer(name: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const store = createCredentialStore({ env });
  const isSignedIn = store.load()[credentialName(name)] !== undefined;
  if (isSignedIn) await store.change(credentialName(name), () => undefined);
  return isSignedIn;
}
