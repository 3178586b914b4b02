import type { OAuthClientProvider } from "@modelcontextprotocol/client";
import { ToolError } from "@octant/core";
import { createProvider, type OAuthStorage, WANTED_SCOPE } from "./oauth.ts";
import { createMachineProvider, grantIn } from "./oauth-machine.ts";

/**
 * Uses and refreshes stored tokens; undefined without a sign-in, so that nothing is registered without the person. A
 * server that requires a new sign-in, or more scopes, gets the answer that the person has to do it.
 */
export function createStoredProvider(storage: OAuthStorage): OAuthClientProvider | undefined {
  const data = storage.load();
  if (data?.["tokens"] === undefined) return undefined;
  const grant = grantIn(data);
  if (grant) return createMachineProvider(storage, grant);
  return createProvider(storage, {
    redirectUri: UNUSED_REDIRECT,
    state: "",
    async open({ searchParams }) {
      const scope = searchParams.get("scope");
      if (scope !== null) await storage.save({ ...storage.load(), [WANTED_SCOPE]: scope });
      throw new ToolError("UNAUTHENTICATED", "the server requires a sign-in", {});
    },
  });
}

/** Never sent: only a sign-in by a person has a callback. */
const UNUSED_REDIRECT = "http://127.0.0.1/callback";
