import { once } from "node:events";
import { ENDING_SIGNALS, EXIT, type Io, print } from "./command.ts";

/** Prints where a server is, and closes it when the process is asked to end. */
export async function announce(said: string, server: { close(): unknown }, io: Io): Promise<number> {
  // Installed before the announcement: a reader of it may send a signal at once.
  const asked = ENDING_SIGNALS.map((signal) => once(process, signal));
  print(said, io);
  await Promise.race(asked);
  await server.close();
  return EXIT.OK;
}
