import { randomBytes } from "node:crypto";
import { thisProcess } from "../jobs/process-identity.ts";
import { makeServerFolder, removeServerFolder } from "../processes/leftovers.ts";
import type { StateFolder } from "../state.ts";
import { type ServerCommand, type ServerProcess, startServerProcess } from "./server-process.ts";

const SERVER_ID_BYTES = 8;

/** Starts a program that speaks over its standard streams; what is left of it when we are killed is ended by the next of us. */
export async function startServer({
  state,
  ...command
}: Omit<ServerCommand, "mark"> & { readonly state: Pick<StateFolder, "folder"> }): Promise<ServerProcess> {
  // Each with a mark of its own: what is left of one is found without touching the others.
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
