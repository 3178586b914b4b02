import type { FetchLike, OAuthClientProvider } from "@modelcontextprotocol/client";
import { ToolError } from "@octant/core";
import { boundedFetch } from "./bounded-fetch.ts";

/** What a sign-in to a server leaves behind: tokens, the registered client, where they came from. */
export type OAuthData = Readonly<Record<string, unknown>>;

/** Where it is kept, apart from everything else. */
export interface OAuthStorage {
  load(): OAuthData | undefined;
  save(data: OAuthData): Promise<void>;
}

/**
 * Uses and refreshes stored tokens; undefined when nobody has signed in, so that nothing is registered anywhere without
 * the person. A server that wants a new sign-in is answered that the person has to do it.
 */
export function createStoredProvider(storage: OAuthStorage): OAuthClientProvider | undefined {
  if (storage.load()?.["tokens"] === undefined) return undefined;
  return createProvider(storage, {
    redirectUri: UNUSED_REDIRECT,
    state: "",
    open() {
      throw new ToolError("UNAUTHENTICATED", "the server wants a sign-in", {});
    },
  });
}

/** Never sent: only a sign-in by a person has a place to come back to. */
const UNUSED_REDIRECT = "http://127.0.0.1/callback";

export interface LoginOptions {
  readonly url: string;
  readonly storage: OAuthStorage;
  readonly redirectUri: string;
  /** Unguessable; the answer has to bring it back. */
  readonly state: string;
  /** Shows the address to the person. */
  open(url: string): void;
  /** Resolves with the address that the browser came back with. */
  received(): Promise<URL>;
}

/** Signs in to a server: discovery, registration, PKCE; the issuer of the answer is checked. */
export async function loginTo(options: LoginOptions): Promise<void> {
  const { url, storage } = options;
  const sdk = await import("@modelcontextprotocol/client");
  const provider = createProvider(storage, options);
  const fetchFn: FetchLike = boundedFetch;
  try {
    const first = await sdk.auth(provider, { serverUrl: url, fetchFn, forceReauthorization: true });
    if (first === "AUTHORIZED") return;
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
    await sdk.auth(provider, {
      serverUrl: url,
      fetchFn,
      authorizationCode: code,
      ...(iss !== null && { iss }),
    });
  } catch (cause) {
    if (cause instanceof ToolError) throw cause;
    // Causes may hold what was sent.
    throw new ToolError(
      "UNAUTHENTICATED",
      `the sign-in failed: ${cause instanceof Error ? cause.message : "it did not answer as expected"}`,
      {},
    );
  }
}

interface Opening {
  readonly redirectUri: string;
  readonly state: string;
  open(url: string): void;
}

function createProvider(storage: OAuthStorage, { redirectUri, state, open }: Opening): OAuthClientProvider {
  // The SDK gives back what it saved, under these names, whose types only it knows.
  const get = (name: string) => storage.load()?.[name] as never;
  const put = (name: string, value: unknown) => storage.save({ ...storage.load(), [name]: value });
  let verifier = "";
  let discovery: never | undefined;
  return {
    redirectUrl: redirectUri,
    clientMetadata: {
      client_name: "Octant",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    state: () => state,
    clientInformation: () => get("client"),
    saveClientInformation: (client) => put("client", client),
    tokens: () => get("tokens"),
    saveTokens: (tokens) => put("tokens", tokens),
    redirectToAuthorization: (url) => open(url.href),
    saveCodeVerifier(text) {
      verifier = text;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState(found) {
      discovery = found as never; // Given back as it was.
    },
    discoveryState: () => discovery,
    async invalidateCredentials(scope) {
      const { client, tokens } = storage.load() ?? {};
      if (scope === "all") await storage.save({});
      else if (scope === "tokens") await storage.save({ client });
      else if (scope === "client") await storage.save({ tokens });
    },
  };
}
