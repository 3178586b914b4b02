import { randomBytes } from "node:crypto";
import type { openHubTokens } from "./hub-tokens.ts";

/** The names of the tokens of pages begin with it. */
const PAGE_TOKEN = "console-";

type HubTokens = Awaited<ReturnType<typeof openHubTokens>>;

/** The tokens of the console's pages: each opened link makes one, which expires. */
export const createPageTokens = (tokens: Pick<HubTokens, "list" | "revoke" | "create" | "check">) => ({
  async mint(lifeMs: number): Promise<string> {
    const now = Date.now();
    for (const { id, name, expires_at } of await tokens.list())
      if (name?.startsWith(PAGE_TOKEN) && Date.parse(expires_at ?? "") < now) await tokens.revoke(id);
    // Names are unique.
    const name = `${PAGE_TOKEN}${randomBytes(4).toString("hex")}`;
    const expires_at = new Date(now + lifeMs).toISOString();
    return (await tokens.create({ name, scope: "admin", expires_at })).token;
  },
  verify: (text: string): boolean => tokens.check.verify(text) !== undefined,
});
