import type { FetchLike } from "@modelcontextprotocol/client";
import { ToolError } from "@octant/core";
import { boundedFetch } from "./bounded-fetch.ts";
import { createProvider, type OAuthStorage, WANTED_SCOPE } from "./oauth.ts";

const loadSdk = () => import("@modelcontextprotocol/client");

export interface LoginOptions {
  readonly url: string;
  readonly storage: OAuthStorage;
  readonly redirectUri: string;
  /** Unguessable; the answer has to bring it back. */
  readonly state: string;
  /** A client that somebody registered with the authorization server; without it one is registered. */
  readonly client?: { readonly client_id: string; readonly client_secret?: string | undefined } | undefined;
  /** An address of a document about this client, for servers that take one in place of a registration. */
  readonly clientMetadataUrl?: string | undefined;
  /** Shows the address to the person. */
  open(url: string): void;
  /** Resolves with the address that the browser came back with. */
  received(): Promise<URL>;
}

/** Signs in to a server: discovery, registration, PKCE; the issuer of the answer is checked. */
export async function loginTo(options: LoginOptions): Promise<void> {
  const { url, storage, client } = options;
  const { auth } = await loadSdk();
  if (client) await storage.save({ ...storage.load(), client });
  const provider = createProvider(storage, { ...options, open: ({ href }) => options.open(href) });
  await orRefused(async () => {
    const challenge = await readChallenge(url, storage);
    const skipIssuerMetadataValidation = await isOwnIssuerOfOldServer(url, challenge);
    const asked = { serverUrl: url, fetchFn, skipIssuerMetadataValidation, ...challenge };
    if ((await auth(provider, { ...asked, forceReauthorization: true })) === "AUTHORIZED") return;
    const { searchParams } = await options.received();
    if (searchParams.get("state") !== options.state)
      throw new ToolError("UNAUTHENTICATED", "the answer of the browser belongs to another sign-in", {});
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
 * Servers of 2025-03-26 describe the sign-in themselves, some with an issuer that has another path. On the same origin,
 * and without a document about the protected resource, nobody else can be meant by it.
 */
async function isOwnIssuerOfOldServer(url: string, challenge: Challenge): Promise<boolean> {
  const { discoverOAuthServerInfo } = await loadSdk();
  const options = { ...challenge, fetchFn, skipIssuerMetadataValidation: true };
  const info = await discoverOAuthServerInfo(url, options);
  const { resourceMetadata, authorizationServerMetadata: { issuer } = {} } = info;
  return (
    resourceMetadata === undefined && issuer !== undefined && new URL(issuer).origin === new URL(url).origin
  );
}

export const fetchFn: FetchLike = boundedFetch;

interface Challenge {
  readonly resourceMetadataUrl?: URL;
  readonly scope?: string;
}

/** Where the server says its sign-in is described, and which scopes it wants: now, or in a call since the last one. */
export async function readChallenge(url: string, storage: OAuthStorage): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await loadSdk();
  const response = await fetchFn(url, {
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

/** Every failure is UNAUTHENTICATED without its cause, which may hold what was sent. */
export async function orRefused(signIn: () => Promise<void>): Promise<void> {
  try {
    await signIn();
  } catch (cause) {
    if (cause instanceof ToolError) throw cause;
    const message = cause instanceof Error ? cause.message : "it did not answer as expected";
    throw new ToolError("UNAUTHENTICATED", `the sign-in failed: ${message.slice(0, SHOWN_CHARS)}`, {});
  }
}

/** Servers answer with whole pages. */
const SHOWN_CHARS = 300;
