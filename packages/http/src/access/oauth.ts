import { createHash } from "node:crypto";
import { isFields } from "@octant/core";
import type { JWTPayload, JWTVerifyGetKey } from "jose";

/** An authorisation server whose access tokens are accepted. */
export interface OAuthOptions {
  /** The `iss` of its tokens. */
  readonly issuer: string;
  /** The `aud` of its tokens for us; our own URL when absent. */
  readonly audience?: string;
  /** The URL of its keys; found through its metadata when absent. */
  readonly jwksUri?: string;
}

/** The subject of a token, and its scopes. */
export interface OAuthIdentity {
  readonly id: string;
  readonly scopes: readonly string[];
  readonly expiresMs: number;
}

/** No symmetric algorithms: a key that verifies such a token could also create one. */
const ALGORITHMS = "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519".split(" ");
const CLOCK_TOLERANCE_S = 5;
const METADATA_TIMEOUT_MS = 5_000;

/** The verifier resolves to undefined for a token that is invalid here; it rejects when the server is unreachable. */
export function createOAuthVerifier({ issuer, jwksUri }: OAuthOptions, audience: string) {
  let keys: Promise<JWTVerifyGetKey> | undefined;

  const loadKeys = async (): Promise<JWTVerifyGetKey> => {
    const { createRemoteJWKSet } = await import("jose");
    return createRemoteJWKSet(new URL(jwksUri ?? (await findKeys(issuer))));
  };
  const loadOnce = () => {
    keys ??= loadKeys().catch((cause) => {
      // The next token tries again.
      keys = undefined;
      throw cause;
    });
    return keys;
  };
  return async (token: string): Promise<OAuthIdentity | undefined> => {
    const { jwtVerify, errors } = await import("jose");
    try {
      const { payload } = await jwtVerify(token, await loadOnce(), {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_S,
        requiredClaims: ["exp", "sub"],
      });
      return toIdentity(issuer, payload);
    } catch (cause) {
      if (cause instanceof errors.JWKSTimeout || !(cause instanceof errors.JOSEError)) throw cause;
      return undefined;
    }
  };
}

/** Whether it has the form of a JWT. */
export const isJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);

function toIdentity(issuer: string, payload: JWTPayload): OAuthIdentity {
  // Two issuers may have equal subjects, and handles belong to the caller id.
  const digest = createHash("sha256")
    .update(JSON.stringify([issuer, payload.sub]))
    .digest("hex");
  const { scope, exp = 0 } = payload;
  return {
    id: `oauth_${digest.slice(0, 32)}`,
    scopes: typeof scope === "string" ? scope.split(" ") : [],
    expiresMs: (exp + CLOCK_TOLERANCE_S) * 1_000,
  };
}

/** RFC 8414 first, then OpenID Connect Discovery: issuers offer one or both. */
async function findKeys(issuer: string): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname === "/" ? "" : pathname;
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  for (const place of places) {
    const answer = await fetch(place, {
      redirect: "error",
      signal: AbortSignal.timeout(METADATA_TIMEOUT_MS),
    });
    const metadata: unknown = answer.ok ? await answer.json() : undefined;
    if (!isFields(metadata) || metadata["issuer"] !== issuer) continue;
    if (typeof metadata["jwks_uri"] === "string") return metadata["jwks_uri"];
  }
  throw new Error(`the authorisation server ${issuer} does not publish the location of its keys`);
}
