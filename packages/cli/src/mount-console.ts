import { watch } from "node:fs";
import { connectTo, listSockets, type Octant } from "@octant/app";
import type { Caller } from "@octant/core";
import { openSocketFolder } from "@octant/host";
import type { HttpServer, TokenStore } from "@octant/http";
import type { Io } from "./command.ts";
import { loadVersion } from "./version.ts";
import { logLine } from "./workspace-flags.ts";

const SOCKET = ".sock";

/** Who may open the page, besides callers with a token. */
export interface Entrance {
  /** A token for a page that was opened with a one-time link. */
  mint(): Promise<string> | string;
  verify(token: string): boolean;
  isPerson?(caller: Caller): boolean;
  readonly isHub?: boolean;
}

/** Serves the console at /console; returns how to make a one-time link. undefined where other processes are not visible. */
export async function mountConsole(
  server: Pick<HttpServer, "mount" | "url">,
  { control }: Pick<Octant, "control">,
  entrance: Entrance,
  io: Io,
): Promise<(() => string) | undefined> {
  if (!control) return undefined;
  const { createConsole } = await import("@octant/console");
  const folder = openSocketFolder(io.env);
  // The tokens of a hub are for other people, who must not reach the other processes of its owner.
  const isShown = (id: string) => !entrance.isHub || id === control.id;
  const { mount, link } = createConsole({
    ...entrance,
    process: control.id,
    version: loadVersion(),
    log: (line) => logLine(line, io),
    machine: {
      list: () =>
        listSockets(folder)
          .map((name) => name.slice(0, -SOCKET.length))
          .filter(isShown),
      connect: async (id) => (isShown(id) ? connectTo(folder, `${id}${SOCKET}`) : undefined),
      watch(onChange) {
        const watcher = watch(folder, onChange);
        return () => watcher.close();
      },
    },
  });
  server.mount("/console", mount);
  const toLink = () => link(server.url);
  control.offerLink(toLink);
  await control.opened;
  return toLink;
}

const TOKEN_NAME = "console";

/** The person's own tokens: each opened link makes one, which expires. */
export function createEntrance(
  tokens: Pick<TokenStore, "create" | "list" | "revoke" | "verify" | "find">,
  lifeMs: number,
): Entrance {
  const isOver = (expires: string | undefined) => expires !== undefined && Date.parse(expires) < Date.now();
  return {
    mint() {
      for (const { id, name, expires } of tokens.list())
        if (name === TOKEN_NAME && isOver(expires)) tokens.revoke(id);
      const expires = new Date(Date.now() + lifeMs);
      return tokens.create({ scopes: ["admin"], name: TOKEN_NAME, expires }).token;
    },
    verify: (token) => tokens.verify(token) !== undefined,
    isPerson: ({ id }) => tokens.find(id)?.name === TOKEN_NAME,
  };
}
