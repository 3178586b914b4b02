import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTokenVerifier } from "./token.ts";

const ISSUER = "https://issuer.example";
const AUDIENCE = "octant";
const CLAIMS = { owner: "acme", sub: "ada" };

let folder: string;
let jwks: string;
let privateKey: CryptoKey;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "octant-token-"));
  jwks = join(folder, "keys.json");
  const pair = await generateKeyPair("ES256");
  privateKey = pair.privateKey;
  writeFileSync(jwks, JSON.stringify({ keys: [{ ...(await exportJWK(pair.publicKey)), alg: "ES256" }] }));
});
afterAll(() => rmSync(folder, { recursive: true }));

const sign = (claims: JWTPayload, { issuer = ISSUER, expires = "5m" } = {}) =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: "ES256" })
    .setIssuer(issuer)
    .setAudience(AUDIENCE)
    .setExpirationTime(expires)
    .sign(privateKey);
const verify = (token: string, issuer = ISSUER) =>
  createTokenVerifier({ jwks, issuer, audience: AUDIENCE }).verify(token);

test("a valid token names its owner, and may write unless it has only the read scope", async () => {
  expect(await verify(await sign(CLAIMS))).toMatchObject({ owner: "acme", subject: "ada", readOnly: false });
  for (const [scope, readOnly] of [
    ["read", true],
    ["read write", false],
    [["read"], true],
    [["read", "write"], false],
  ] as const)
    expect(await verify(await sign({ ...CLAIMS, scope })), `${scope}`).toMatchObject({ readOnly });
});

test("owners of the same name at two issuers are two callers", async () => {
  const other = "https://other.example";
  const first = await verify(await sign(CLAIMS));
  const second = await verify(await sign(CLAIMS, { issuer: other }), other);
  expect(second?.owner).toBe(first?.owner);
  expect(second?.callerId).not.toBe(first?.callerId);
});

test.each<[string, () => Promise<string>]>([
  ["an expired token", () => sign(CLAIMS, { expires: "-1m" })],
  ["another issuer's token", () => sign(CLAIMS, { issuer: "https://other.example" })],
  ["a token without an owner", () => sign({ sub: "ada" })],
  ["a token with an empty owner", () => sign({ ...CLAIMS, owner: "" })],
  ["a token with a very long owner", () => sign({ ...CLAIMS, owner: "a".repeat(201) })],
  ["a token with scopes of another type", () => sign({ ...CLAIMS, scope: { read: true } })],
  ["a token signed with the public key set as a secret", () => signWithSecret()],
  ["text that is not a token", async () => "nonsense"],
])("%s is refused", async (_what, make) => {
  expect(await verify(await make())).toBeUndefined();
});

const signWithSecret = () =>
  new SignJWT(CLAIMS)
    .setProtectedHeader({ alg: "HS256" })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setExpirationTime("5m")
    .sign(Buffer.alloc(32, 1));
