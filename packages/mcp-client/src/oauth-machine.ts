import type { OAuthClientProvider } from "@modelcontextprotocol/client";
import { z } from "zod";
import { boundedFetch } from "./bounded-fetch.ts";
import { type OAuthData, type OAuthStorage, storedParts } from "./oauth.ts";
import { orRefused, readChallenge } from "./oauth-login.ts";

const Text = z.string().min(1);

/** How a program signs in without a person, such as in CI. */
export const MachineGrant = z.discriminatedUnion("kind", [
  /** The client credentials grant with a secret (RFC 6749). */
  z.strictObject({ kind: z.literal("client_secret"), client_id: Text, client_secret: Text }),
  /** The same with a PEM key that signs an assertion (RFC 7523). */
  z.strictObject({ kind: z.literal("private_key"), client_id: Text, private_key: Text, algorithm: Text }),
  /** A token of the program's platform, exchanged for one of the server (RFC 7523). */
  z.strictObject({ kind: z.literal("workload"), client_id: Text, assertion: Text }),
  /** An identity token of the person's company, exchanged twice (RFC 8693, RFC 7523). */
  z.strictObject({
    kind: z.literal("enterprise"),
    client_id: Text,
    client_secret: Text,
    id_token: Text,
    idp_client_id: Text,
    idp_token_endpoint: z.url(),
  }),
]);
export type MachineGrant = z.output<typeof MachineGrant>;

const GRANT = "grant";
const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

export interface MachineLoginOptions {
  readonly url: string;
  readonly storage: OAuthStorage;
  readonly grant: MachineGrant;
}

/** Signs in without a person and stores the grant, so that later tokens are fetched on demand. */
export async function loginAsMachine({ url, storage, grant }: MachineLoginOptions): Promise<void> {
  const { auth } = await import("@modelcontextprotocol/client");
  await storage.save({ [GRANT]: grant });
  await orRefused(async () => {
    const asked = await readChallenge(url, storage);
    await auth(createMachineProvider(storage, grant), { serverUrl: url, fetchFn: boundedFetch, ...asked });
  });
}

export const grantIn = (data: OAuthData): MachineGrant | undefined => data[GRANT] as MachineGrant | undefined; // Only this module writes it.

export function createMachineProvider(storage: OAuthStorage, grant: MachineGrant): OAuthClientProvider {
  const { clientInformation, ...parts } = storedParts(storage);
  const { client_id } = grant;
  const secret = "client_secret" in grant ? { client_secret: grant.client_secret } : {};
  const place = { server: "", resource: "" };
  const grantType =
    grant.kind === "workload" || grant.kind === "enterprise" ? JWT_BEARER : "client_credentials";
  return {
    ...parts,
    redirectUrl: undefined,
    clientMetadata: { client_name: "Octant", redirect_uris: [], grant_types: [grantType] },
    // Bound to the issuer of its first use: the secret is not sent anywhere else.
    clientInformation: () => clientInformation() ?? { client_id, ...secret },
    redirectToAuthorization() {},
    saveCodeVerifier() {},
    codeVerifier: () => "",
    saveAuthorizationServerUrl(url) {
      place.server = url;
    },
    saveResourceUrl(url) {
      place.resource = url;
    },
    async prepareTokenRequest(scope) {
      return new URLSearchParams({
        grant_type: grantType,
        ...(scope !== undefined && { scope }),
        ...(await assertionOf(grant, place, scope)),
        // A client without a secret is named in the request.
        ...(grant.kind === "workload" && { client_id }),
      });
    },
    ...(grant.kind === "private_key" && {
      async addClientAuthentication(headers, params, url, metadata) {
        const { createPrivateKeyJwtAuth } = await import("@modelcontextprotocol/client");
        const { private_key: privateKey, algorithm: alg } = grant;
        const sign = createPrivateKeyJwtAuth({ issuer: client_id, subject: client_id, privateKey, alg });
        await sign(headers, params, url, metadata);
      },
    }),
  };
}

async function assertionOf(
  grant: MachineGrant,
  { server, resource }: { readonly server: string; readonly resource: string },
  scope: string | undefined,
): Promise<{ readonly assertion?: string }> {
  if (grant.kind === "workload") return { assertion: grant.assertion };
  if (grant.kind !== "enterprise") return {};
  const { requestJwtAuthorizationGrant } = await import("@modelcontextprotocol/client");
  const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
    tokenEndpoint: grant.idp_token_endpoint,
    audience: server,
    resource,
    idToken: grant.id_token,
    clientId: grant.idp_client_id,
    ...(scope !== undefined && { scope }),
    fetchFn: boundedFetch,
  });
  return { assertion: jwtAuthGrant };
}
