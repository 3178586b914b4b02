import type { ToSupervisor } from "./protocol.ts";
import { runSupervisor } from "./supervisor.ts";

process.title = "octant-supervisor";
// Only the end of the server ends the supervisor: a Ctrl-C is meant for others. Handlers, unlike "ignore", are not inherited.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

await runSupervisor({
  // The server may go away in the middle of a message; the line tells that by itself.
  send: (message) => process.connected && process.send?.(message, () => {}),
  onMessage: (listener) => process.on("message", (message) => listener(message as ToSupervisor)),
  onCut: (listener) => process.on("disconnect", listener),
});
process.exit();
