import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { IDENTITY, isDead } from "../jobs/process-identity.ts";
import { endTree } from "./process-tree.ts";
import { SERVER_MARK } from "./protocol.ts";

/** Each server that runs processes has a folder named after its id, which holds its pipes and identifies leftovers. */
export function makeServerFolder(folder: string, server: string): string {
  const path = join(folder, server);
  mkdirSync(path, { mode: 0o700 });
  return path;
}

export const removeServerFolder = (folder: string, server: string): void =>
  rmSync(join(folder, server), { recursive: true, force: true });

/** Kills processes left behind by servers that died together with their supervisors. */
export async function sweepLeftovers(folder: string): Promise<void> {
  const servers = readdirSync(folder).filter((name) => SERVER_ID.test(name) && isDead(name));
  for (const server of servers) await endProcessesOf(folder, server, []);
}

const SERVER_ID = new RegExp(`^${IDENTITY}:[0-9a-f]+$`);

/** For when no supervisor is there to do it. */
export async function endProcessesOf(
  folder: string,
  server: string,
  leaders: readonly number[],
): Promise<void> {
  await endTree({ leaders, mark: `${SERVER_MARK}=${server}` }, { signal: "SIGKILL", graceMs: 0 });
  removeServerFolder(folder, server);
}
