import type { OAuthStorage } from "@octant/mcp";
import type { CredentialStore } from "@octant/runtime";

export const credentialName = (server: string): string => `mcp:${server}`;

/** The sign-in of one server in the credential store. It is valid only for the address it was made for. */
export const createOAuthStorage = (store: CredentialStore, server: string, url: string): OAuthStorage => ({
  load() {
    const found = store.load()[credentialName(server)];
    return found?.kind === "mcp" && found.url === url ? found.data : undefined;
  },
  async save(data) {
    await store.change(credentialName(server), () => ({ kind: "mcp", url, data }));
  },
});
