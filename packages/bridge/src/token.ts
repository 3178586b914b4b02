import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { toOwnerId } from "@octant/core";
import { createLocalJWKSet, createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from "jose";

/** The accepted issuer and its keys. */
export interface TokenOptions {
  /** The URL of the key set, or a file. */
  readonly jwks: string;
  readonly issuer: string;
  readonly audience: string;
}

/** The owner of a connection. */
export interface Identity {
  /** The caller of everything that is done for this owner. */
  readonly callerId: string;
  /** The owner's name in the token. */
  readonly owner: string;
  /** The connecting person or program of the owner. */
  readonly subject: string;
  readonly readOnly: boolean;
  readonly expiresMs: number;
}

/** No symmetric algorithms, and never "none": a key that verifies such a token could also create one. */
const ALGORITHMS = ["RS256", "ES256"];
const CLOCK_TOLERANCE_S = 5;
const KEYS_TIMEOUT_MS = 5_000;
const MAX_OWNER_CHARS = 200;
/** A token with the first and without the second may only read. */
const READ_SCOPE = "read";
const WRITE_SCOPE = "write";

export function createTokenVerifier({ jwks, issuer, audience }: TokenOptions) {
  const keys = URL.canParse(jwks)
    ? createRemoteJWKSet(new URL(jwks), { timeoutDuration: KEYS_TIMEOUT_MS })
    : createLocalJWKSet(JSON.parse(readFileSync(jwks, "utf8")));
  return {
    /** undefined when the token is invalid here. Rejects when the keys cannot be loaded. */
    async verify(token: string): Promise<Identity | undefined> {
      try {
        const { payload } = await jwtVerify(token, keys, {
          issuer,
          audience,
          algorithms: ALGORITHMS,
          clockTolerance: CLOCK_TOLERANCE_S,
          requiredClaims: ["exp", "sub", "owner"],
        });
        return toIdentity(issuer, payload);
      } catch (cause) {
        if (cause instanceof errors.JWKSTimeout || !(cause instanceof errors.JOSEError)) throw cause;
        return undefined;
      }
    },
  };
}

function toIdentity(issuer: string, { owner, sub, exp, scope }: JWTPayload): Identity | undefined {
  if (typeof owner !== "string" || owner === "" || owner.length > MAX_OWNER_CHARS) return undefined;
  if (sub === undefined || sub === "" || exp === undefined) return undefined;
  const scopes = scopesOf(scope);
  if (!scopes) return undefined;
  // Two issuers may have owners of the same name.
  const digest = hash("sha256", JSON.stringify([issuer, owner]));
  return {
    callerId: toOwnerId(digest),
    owner,
    subject: sub,
    readOnly: scopes.includes(READ_SCOPE) && !scopes.includes(WRITE_SCOPE),
    expiresMs: (exp + CLOCK_TOLERANCE_S) * 1_000,
  };
}

/** Names separated by blanks (RFC 8693), or a list of them; undefined for anything else. */
function scopesOf(claim: unknown): readonly string[] | undefined {
  const names = typeof claim === "string" ? claim.split(/\s+/) : (claim ?? []);
  return Array.isArray(names) && names.every((name) => typeof name === "string") ? names : undefined;
}
