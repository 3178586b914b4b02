import { ToolError } from "@octant/core";
import { boundedFetch } from "./bounded-fetch.ts";
import { createProvider, type OAuthStorage, WANTED_SCOPE } from "./oauth.ts";

const loadSdk = () => import("@modelcontextprotocol/client");

export interface LoginOptions {
  readonly url: string;
  readonly storage: OAuthStorage;
  readonly redirectUri: string;
  /** Unguessable; the callback must return it. */
  readonly state: string;
  /** A client registered in advance with the authorization server; without it one is registered. */
  readonly client?: { readonly client_id: string; readonly client_secret?: string | undefined } | undefined;
  /** The URL of a document about this client, for servers that accept one instead of a registration. */
  readonly clientMetadataUrl?: string | undefined;
  /** Shows the address to the person. */
  open(url: string): void;
  /** Resolves with the URL of the browser's callback. */
  received(): Promise<URL>;
}

/** Signs in to a server: discovery, registration, PKCE; the issuer of the callback is checked. */
export async function loginTo(options: LoginOptions): Promise<void> {
  const { url, storage, client } = options;
  const { auth } = await loadSdk();
  if (client) await storage.save({ ...storage.load(), client });
  const provider = createProvider(storage, { ...options, open: ({ href }) => options.open(href) });
  await orRefused(async () => {
    const challenge = await readChallenge(url, storage);
    const skipIssuerMetadataValidation = await isOwnIssuerOfOldServer(url, challenge);
    const asked = { serverUrl: url, fetchFn: boundedFetch, skipIssuerMetadataValidation, ...challenge };
    if ((await auth(provider, { ...asked, forceReauthorization: true })) === "AUTHORIZED") return;
    const { searchParams } = await options.received();
    if (searchParams.get("state") !== options.state)
      throw new ToolError("UNAUTHENTICATED", "the browser's callback belongs to another sign-in", {});
    const code = searchParams.get("code");
    const iss = searchParams.get("iss");
    if (code === null)
      throw new ToolError(
        "UNAUTHENTICATED",
        `the sign-in was refused: ${searchParams.get("error") ?? "no code came back"}`,
        {},
      );
    await auth(provider, { ...asked, authorizationCode: code, ...(iss !== null && { iss }) });
    const { [WANTED_SCOPE]: _, ...data } = storage.load() ?? {};
    await storage.save(data);
  });
}

/**
 * Servers of 2025-03-26 describe the sign-in themselves, some with an issuer of a different path. On the same origin,
 * and without a protected-resource document, it is unambiguous.
 */
async function isOwnIssuerOfOldServer(url: string, challenge: Challenge): Promise<boolean> {
  const { discoverOAuthServerInfo } = await loadSdk();
  const options = { ...challenge, fetchFn: boundedFetch, skipIssuerMetadataValidation: true };
  const info = await discoverOAuthServerInfo(url, options);
  const { resourceMetadata, authorizationServerMetadata: { issuer } = {} } = info;
  return (
    resourceMetadata === undefined && issuer !== undefined && new URL(issuer).origin === new URL(url).origin
  );
}

interface Challenge {
  readonly resourceMetadataUrl?: URL;
  readonly scope?: string;
}

/** The server's metadata URL and required scopes, from a request now or from a call since the last sign-in. */
export async function readChallenge(url: string, storage: OAuthStorage): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await loadSdk();
  const response = await boundedFetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  await response.body?.cancel();
  const { resourceMetadataUrl, scope = "" } =
    response.status === 401 ? extractWWWAuthenticateParams(response) : {};
  const wanted = String(storage.load()?.[WANTED_SCOPE] ?? "");
  const scopes = new Set(`${scope} ${wanted}`.split(" ").filter((one) => one !== ""));
  return {
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
    ...(scopes.size > 0 && { scope: [...scopes].join(" ") }),
  };
}

/** Every failure becomes UNAUTHENTICATED without its cause, which may contain secrets that were sent. */
export async function orRefused(signIn: () => Promise<void>): Promise<void> {
  try {
    await signIn();
  } catch (cause) {
    if (cause instanceof ToolError) throw cause;
    const message = cause instanceof Error ? cause.message : "it did not answer as expected";
    throw new ToolError("UNAUTHENTICATED", `the sign-in failed: ${message.slice(0, SHOWN_CHARS)}`, {});
  }
}

/** Servers may answer with whole pages. */
const SHOWN_CHARS = 300;
