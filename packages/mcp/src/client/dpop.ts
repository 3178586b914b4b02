import type { DpopKeyPair, DpopSession } from "@modelcontextprotocol/client";
import type { OAuthStorage } from "./oauth.ts";

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
export async function loadDpopSession(
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
