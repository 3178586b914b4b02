import type { Caller } from "@octant/core";
import type { TokenStore } from "@octant/http";
import { SESSION_LIFE_MS } from "./entry.ts";

/** Who may open the page, besides callers with a token. */
export interface Entrance {
  /** A token for a page that was opened with a one-time link. */
  mint(): Promise<string> | string;
  verify(token: string): boolean;
  isPerson?(caller: Caller): boolean;
  readonly isHub?: boolean;
}

const TOKEN_NAME = "console";

/** The person's own tokens: each opened link makes one, which expires. */
export function createEntrance(
  tokens: Pick<TokenStore, "create" | "list" | "revoke" | "verify" | "find">,
): Entrance {
  const isOver = (expires: string | undefined) => expires !== undefined && Date.parse(expires) < Date.now();
  return {
    mint() {
      for (const { id, name, expires } of tokens.list())
        if (name === TOKEN_NAME && isOver(expires)) tokens.revoke(id);
      const expires = new Date(Date.now() + SESSION_LIFE_MS);
      return tokens.create({ scopes: ["admin"], name: TOKEN_NAME, expires }).token;
    },
    verify: (token) => tokens.verify(token) !== undefined,
    isPerson: ({ id }) => tokens.find(id)?.name === TOKEN_NAME,
  };
}
