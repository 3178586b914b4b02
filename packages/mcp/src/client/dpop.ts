import type { DpopKeyPair, DpopSession } from "@modelcontextprotocol/client";
import type { OAuthStorage } from "./oauth.ts";

/** Under this name the storage has the key that tokens are bound to. */
const DPOP_KEY = "dpop_key";
const CURVE = { name: "ECDSA", namedCurve: "P-256" } as const;

interface StoredKey extends Pick<DpopKeyPair, "publicJwk" | "thumbprint" | "alg"> {
  readonly privateJwk: JsonWebKey;
}

/**
 * Binds tokens to a key of ours (RFC 9449) where the authorization server can: a token alone is then of no use to
 * others. Undefined where it cannot.
 */
export async function loadDpopSession(
  storage: OAuthStorage,
  metadata: Readonly<Record<string, unknown>> | undefined,
): Promise<DpopSession | undefined> {
  const stored = storage.load()?.[DPOP_KEY] as StoredKey | undefined; // Only this file writes it.
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
    crypto.subtle.importKey("jwk", { ...publicJwk } as JsonWebKey, CURVE, true, ["verify"]), // The same form, named by jose.
  ]);
  return { privateKey, publicKey, publicJwk, thumbprint, alg };
}
