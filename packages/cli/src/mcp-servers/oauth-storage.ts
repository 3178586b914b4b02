import type { OAuthStorage } from "@octant/mcp";
import type { CredentialStore } from "@octant/runtime";

export const credentialName = (server: string): string => `mcp:${server}`;

/** The sign-in of one server in the person's credentials. It counts for the address that it was made for, and no other. */
export const createOAuthStorage = (store: CredentialStore, server: string, url: string): OAuthStorage => ({
  load() {
    const found = store.load()[credentialName(server)];
    return found?.kind === "mcp" && found.url === url ? found.data : undefined;
  },
  async save(data) {
    await store.change(credentialName(server), () => ({ kind: "mcp", url, data }));
  },
});
