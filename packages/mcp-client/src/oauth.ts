import type { DpopKeyPair, DpopSession, OAuthClientProvider } from "@modelcontextprotocol/client";

/** The stored result of a sign-in: tokens, the registered client, and their origin. */
export type OAuthData = Readonly<Record<string, unknown>>;

/** Where the sign-in of one server is stored, separate from everything else. */
export interface OAuthStorage {
  load(): OAuthData | undefined;
  save(data: OAuthData): Promise<void>;
}

/** The storage key of the scopes that a server has requested since the last sign-in. */
export const WANTED_SCOPE = "wanted_scope";

/** How a person is asked to sign in. */
export interface SignIn {
  readonly redirectUri: string;
  readonly state: string;
  /** The URL of a document about this client, for servers that accept one instead of a registration. */
  readonly clientMetadataUrl?: string | undefined;
  open(url: URL): Promise<void> | void;
}

export function createProvider(storage: OAuthStorage, opening: SignIn): OAuthClientProvider {
  const { redirectUri, state, open, clientMetadataUrl } = opening;
  let verifier = "";
  return {
    ...storedParts(storage),
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    redirectUrl: redirectUri,
    clientMetadata: {
      client_name: "Octant",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    state: () => state,
    redirectToAuthorization: open,
    saveCodeVerifier(text) {
      verifier = text;
    },
    codeVerifier: () => verifier,
  };
}

/** The parts of a provider that every kind of sign-in stores. */
export function storedParts(storage: OAuthStorage) {
  // The SDK gets back what it saved; only it knows the types.
  const get = (name: string) => storage.load()?.[name] as never;
  const put = (name: string, value: unknown) => storage.save({ ...storage.load(), [name]: value });
  let discovery: never | undefined;
  return {
    clientInformation: () => get("client"),
    saveClientInformation: (client) => put("client", client),
    tokens: () => get("tokens"),
    saveTokens: (tokens) => put("tokens", tokens),
    saveDiscoveryState(found) {
      discovery = found as never; // Returned unchanged.
    },
    discoveryState: () => discovery,
    dpop: () => loadDpopSession(storage, Object(discovery)["authorizationServerMetadata"]),
    async invalidateCredentials(scope) {
      const data = storage.load() ?? {};
      const { client: _client, ...withoutClient } = data;
      const { tokens: _tokens, ...withoutTokens } = data;
      if (scope === "all") await storage.save({});
      else if (scope === "tokens") await storage.save(withoutTokens);
      else if (scope === "client") await storage.save(withoutClient);
    },
  } satisfies Partial<OAuthClientProvider>;
}

/** The storage key of the private key that tokens are bound to. */
const DPOP_KEY = "dpop_key";
const CURVE = { name: "ECDSA", namedCurve: "P-256" } as const;

interface StoredKey extends Pick<DpopKeyPair, "publicJwk" | "thumbprint" | "alg"> {
  readonly privateJwk: JsonWebKey;
}

/**
 * Binds tokens to our own key (RFC 9449) where the authorization server supports it, so that a stolen token is
 * useless. undefined where it does not.
 */
async function loadDpopSession(
  storage: OAuthStorage,
  metadata: Readonly<Record<string, unknown>> | undefined,
): Promise<DpopSession | undefined> {
  const stored = storage.load()?.[DPOP_KEY] as StoredKey | undefined; // Only this module writes it.
  const algorithms = metadata?.["dpop_signing_alg_values_supported"];
  const isOffered = Array.isArray(algorithms) && algorithms.includes("ES256");
  if (!stored && !isOffered) return undefined;
  const { DpopSession, generateDpopKeyPair } = await import("@modelcontextprotocol/client");
  if (stored) return DpopSession.create({ keyPair: await toKeyPair(stored) });
  const keyPair = await generateDpopKeyPair({ alg: "ES256", extractable: true });
  const { publicJwk, thumbprint, alg } = keyPair;
  const privateJwk = await crypto.subtle.exportKey("jwk", keyPair.privateKey);
  await storage.save({ ...storage.load(), [DPOP_KEY]: { publicJwk, thumbprint, alg, privateJwk } });
  return DpopSession.create({ keyPair });
}

async function toKeyPair({ publicJwk, privateJwk, thumbprint, alg }: StoredKey): Promise<DpopKeyPair> {
  const [privateKey, publicKey] = await Promise.all([
    crypto.subtle.importKey("jwk", privateJwk, CURVE, false, ["sign"]),
    crypto.subtle.importKey("jwk", { ...publicJwk } as JsonWebKey, CURVE, true, ["verify"]), // The same structure under jose's type name.
  ]);
  return { privateKey, publicKey, publicJwk, thumbprint, alg };
}
