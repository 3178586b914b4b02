import { readFileSync, writeFileSync } from "node:fs";
import { errnoOf } from "@octant/host";

/**
 * Listens on the port of last time, so that URLs pasted into clients work after a restart; when it is taken, on a free
 * port for this time only.
 */
export async function serveOnSavedPort<S extends { readonly port: number }>(
  serveOn: (port: number) => Promise<S>,
  file: string,
  onTaken: (port: number) => void,
): Promise<S> {
  const before = loadPort(file);
  if (before === undefined) {
    const server = await serveOn(0);
    writeFileSync(file, String(server.port), { mode: 0o600 });
    return server;
  }
  try {
    return await serveOn(before);
  } catch (cause) {
    if (errnoOf(cause) !== "EADDRINUSE") throw cause;
    onTaken(before);
    return serveOn(0);
  }
}

/** undefined before the first serving. */
function loadPort(file: string): number | undefined {
  try {
    const port = Number(readFileSync(file, "utf8"));
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
  } catch {
    return undefined;
  }
}
