import { connectToMachine, type Octant } from "@octant/app";
import type { Entrance } from "@octant/console";
import type { HttpServer, TokenStore } from "@octant/http";
import type { Io } from "./command.ts";
import { loadVersion } from "./version.ts";
import { logLine } from "./workspace-flags.ts";

/** Serves the console at /console; returns how to make a one-time link. undefined where other processes are not visible. */
export async function mountConsole(
  server: Pick<HttpServer, "mount" | "url">,
  { control }: Pick<Octant, "control">,
  entrance: Entrance,
  io: Io,
): Promise<(() => string) | undefined> {
  if (!control) return undefined;
  const { createConsole } = await import("@octant/console");
  // The tokens of a hub are for other people, who must not reach the other processes of its owner.
  const isShown = (id: string) => !entrance.isHub || id === control.id;
  const { mount, link } = createConsole({
    ...entrance,
    process: control.id,
    version: loadVersion(),
    log: (line) => logLine(line, io),
    machine: connectToMachine(io.env, isShown),
  });
  server.mount("/console", mount);
  const toLink = () => link(server.url);
  control.offerLink(toLink);
  await control.opened;
  return toLink;
}

/** The same for the person's own tokens. */
export async function mountOwnConsole(
  server: Pick<HttpServer, "mount" | "url">,
  octant: Pick<Octant, "control">,
  tokens: TokenStore,
  io: Io,
): Promise<(() => string) | undefined> {
  const { createEntrance } = await import("@octant/console");
  return mountConsole(server, octant, createEntrance(tokens), io);
}
