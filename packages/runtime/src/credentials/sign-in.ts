import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "@octant/core";
import * as oauth from "oauth4webapi";
import { openRedirect } from "./loopback.ts";
import type { OAuthCredential } from "./store.ts";

export interface SignInOptions {
  /** The issuer URL of the authorization server. */
  readonly issuer: string;
  /** Registered dynamically where the server allows it. */
  readonly client_id?: string | undefined;
  readonly scope?: string | undefined;
  readonly signal: AbortSignal;
}

export interface BrowserOptions extends SignInOptions {
  /** Shows the address to the person, in a browser or as text. */
  open(url: string): void;
}

export interface DeviceOptions extends SignInOptions {
  /** Shows the person the address to open and the code to type there. */
  show(told: { readonly url: string; readonly code: string }): void;
}

/** Authorization code with PKCE S256 and a redirect to this machine; state and issuer are checked. */
export async function signInWithBrowser(options: BrowserOptions): Promise<OAuthCredential> {
  return asToolError(async () => {
    const server = await discover(options);
    const state = oauth.generateRandomState();
    await using redirect = await openRedirect((answer) => answer.get("state") === state);
    const client = await clientOf(server, options, [redirect.uri]);
    const verifier = oauth.generateRandomCodeVerifier();
    const url = new URL(need(server.authorization_endpoint, "no address to sign in at"));
    for (const [name, value] of Object.entries({
      response_type: "code",
      client_id: client.client_id,
      redirect_uri: redirect.uri,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      state,
      ...scopeOf(options, server),
    }))
      url.searchParams.set(name, value);
    options.open(url.href);
    const answer = oauth.validateAuthResponse(server, client, await redirect.received(options.signal), state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      answer,
      redirect.uri,
      verifier,
      requestOptions(options),
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response);
    return toCredential(tokens, options.issuer, client.client_id);
  });
}

/** Device code (RFC 8628): for machines without a browser. */
export async function signInWithDevice(options: DeviceOptions): Promise<OAuthCredential> {
  return asToolError(async () => {
    const { signal } = options;
    const server = await discover(options);
    need(server.device_authorization_endpoint, "no sign-in by device code");
    const client = await clientOf(server, options, []);
    const asked = await oauth.deviceAuthorizationRequest(
      server,
      client,
      oauth.None(),
      scopeOf(options, server),
      requestOptions(options),
    );
    const device = await oauth.processDeviceAuthorizationResponse(server, client, asked);
    options.show({
      url: device.verification_uri_complete ?? device.verification_uri,
      code: device.user_code,
    });
    const deadline = Date.now() + device.expires_in * 1_000;
    let interval = (device.interval ?? DEFAULT_INTERVAL_S) * 1_000;
    while (Date.now() < deadline) {
      await delay(interval, undefined, { signal });
      const response = await oauth.deviceCodeGrantRequest(
        server,
        client,
        oauth.None(),
        device.device_code,
        requestOptions(options),
      );
      try {
        const tokens = await oauth.processDeviceCodeResponse(server, client, response);
        return toCredential(tokens, options.issuer, client.client_id);
      } catch (cause) {
        const code = cause instanceof oauth.ResponseBodyError ? cause.error : undefined;
        if (code === "slow_down") interval += SLOWER_MS;
        else if (code !== "authorization_pending") throw cause;
      }
    }
    throw new ToolError("TIMEOUT", "the code was not used in time; sign in again", {
      after_ms: device.expires_in * 1_000,
    });
  });
}

const DEFAULT_INTERVAL_S = 5;
const SLOWER_MS = 5_000;

/** New tokens for a refresh token, which most servers take once only. */
export async function refresh(credential: OAuthCredential, signal: AbortSignal): Promise<OAuthCredential> {
  return asToolError(async () => {
    const { refresh_token, issuer, client_id } = credential;
    if (refresh_token === null)
      throw new ToolError("UNAUTHENTICATED", "the sign-in has expired; sign in again", {});
    const server = await discover({ issuer, signal });
    const client = { client_id };
    const options = requestOptions({ issuer, signal });
    const response = await oauth.refreshTokenGrantRequest(
      server,
      client,
      oauth.None(),
      refresh_token,
      options,
    );
    const tokens = await oauth.processRefreshTokenResponse(server, client, response);
    const next = toCredential(tokens, issuer, client_id);
    // A server that does not rotate leaves it out.
    return {
      ...next,
      refresh_token: next.refresh_token ?? refresh_token,
      scope: next.scope ?? credential.scope,
    };
  });
}

async function discover({
  issuer,
  signal,
}: Pick<SignInOptions, "issuer" | "signal">): Promise<oauth.AuthorizationServer> {
  const url = URL.parse(issuer);
  if (!url || !(url.protocol === "https:" || isLoopback(url)))
    throw new ToolError("INVALID_ARGUMENT", "the issuer is not an https URL", {
      issues: [{ path: "issuer", message: "expected an https URL" }],
    });
  const options = requestOptions({ issuer, signal });
  for (const algorithm of ["oidc", "oauth2"] as const) {
    const response = await oauth.discoveryRequest(url, { ...options, algorithm });
    if (response.status === 404 && algorithm === "oidc") continue;
    return await oauth.processDiscoveryResponse(url, response);
  }
  throw new ToolError("UPSTREAM_ERROR", "the issuer has no metadata", {});
}

const isLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === "http:" && ["127.0.0.1", "[::1]", "localhost"].includes(hostname);

/** Without TLS on this machine only. */
const requestOptions = ({ issuer, signal }: Pick<SignInOptions, "issuer" | "signal">) => ({
  signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
  [oauth.allowInsecureRequests]: isLoopback(new URL(issuer)),
});

const REQUEST_MS = 30_000;

async function clientOf(
  server: oauth.AuthorizationServer,
  options: SignInOptions,
  redirects: readonly string[],
): Promise<oauth.Client> {
  if (options.client_id !== undefined) return { client_id: options.client_id };
  need(
    server.registration_endpoint,
    "no client id was given, and it registers none; give one with --client-id",
  );
  const asked = await oauth.dynamicClientRegistrationRequest(
    server,
    {
      client_name: "Octant",
      redirect_uris: [...redirects],
      grant_types:
        redirects.length > 0 ? ["authorization_code", "refresh_token"] : [DEVICE_GRANT, "refresh_token"],
      response_types: redirects.length > 0 ? ["code"] : [],
      token_endpoint_auth_method: "none",
      application_type: "native",
    },
    requestOptions(options),
  );
  const { client_id } = await oauth.processDynamicClientRegistrationResponse(asked);
  return { client_id };
}

const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** A refresh token is asked for where the server names the scope that it takes. */
function scopeOf(
  { scope }: SignInOptions,
  { scopes_supported = [] }: oauth.AuthorizationServer,
): Record<string, string> {
  if (scope !== undefined) return { scope };
  return scopes_supported.includes("offline_access")
    ? { scope: "openid offline_access", prompt: "consent" }
    : {};
}

const toCredential = (
  { access_token, refresh_token, expires_in, scope }: oauth.TokenEndpointResponse,
  issuer: string,
  client_id: string,
): OAuthCredential => ({
  kind: "oauth",
  access_token,
  refresh_token: refresh_token ?? null,
  expires_at: expires_in === undefined ? null : Math.floor(Date.now() / 1_000) + expires_in,
  issuer,
  client_id,
  scope: scope ?? null,
});

function need<T>(value: T | undefined, missing: string): T {
  if (value === undefined)
    throw new ToolError("UNSUPPORTED", `the authorization server offers ${missing}`, {
      what: "sign-in",
      how: "use an API key: octant login --method key",
    });
  return value;
}

/** Only the code of an OAuth error is reported: descriptions and causes contain what was sent. */
async function asToolError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof ToolError || (cause instanceof DOMException && cause.name === "AbortError"))
      throw cause;
    const code =
      cause instanceof oauth.ResponseBodyError || cause instanceof oauth.AuthorizationResponseError
        ? cause.error
        : cause instanceof oauth.OperationProcessingError || cause instanceof oauth.UnsupportedOperationError
          ? cause.message
          : "it did not answer as expected";
    throw new ToolError("UNAUTHENTICATED", `the sign-in failed: ${code}`, {});
  }
}
