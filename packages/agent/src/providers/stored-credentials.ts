import { accessToken, type CredentialStore } from "@octant/runtime";
import { type CredentialSource, keyCredentials } from "./providers.ts";

/** The sign-ins of `octant login`. A rejected token is refreshed once per rejected request. */
export const createCredentialSource = (store: CredentialStore): CredentialSource => ({
  async find(provider) {
    const stored = store.load()[provider];
    if (stored?.kind === "api_key") return keyCredentials(provider, stored.key);
    if (stored?.kind !== "oauth") return undefined;
    let sent: string | undefined;
    return {
      async headers(refused) {
        const { signal } = new AbortController();
        sent = await accessToken(store, provider, { refused: refused ? sent : undefined, signal });
        return { authorization: `Bearer ${sent}` };
      },
    };
  },
});
