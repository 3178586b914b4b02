import { randomBytes } from "node:crypto";
import { thisProcess } from "../jobs/process-identity.ts";
import { makeServerFolder, removeServerFolder } from "../processes/leftovers.ts";
import type { StateFolder } from "../state.ts";
import { type ServerCommand, type ServerProcess, startServerProcess } from "./server-process.ts";

const SERVER_ID_BYTES = 8;

/** Starts a program that speaks over standard streams; if we are killed, the next server kills its leftovers. */
export async function startServer({
  state,
  ...command
}: Omit<ServerCommand, "mark"> & { readonly state: Pick<StateFolder, "folder"> }): Promise<ServerProcess> {
  // Each has its own mark, so that its leftovers are found without touching others.
  const mark = `${thisProcess()}:${randomBytes(SERVER_ID_BYTES).toString("hex")}`;
  const folder = state.folder("processes");
  makeServerFolder(folder, mark);
  try {
    const started = await startServerProcess({ ...command, mark });
    void started.exited.then(() => removeServerFolder(folder, mark));
    return started;
  } catch (cause) {
    removeServerFolder(folder, mark);
    throw cause;
  }
}
