import { writeFileSync } from "node:fs";
import type { ToSupervisor } from "./protocol.ts";
import { runSupervisor } from "./supervisor.ts";

const OUT_OF_MEMORY_SCORE = "500";

process.title = "octant-supervisor";
lowerImportance();
// Only the end of the server ends the supervisor: a Ctrl-C is meant for others. Handlers, unlike "ignore", are not inherited.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

await runSupervisor({
  // The server may exit in the middle of a message; the closed line reports that.
  send: (message) => process.connected && process.send?.(message, () => {}),
  onMessage: (listener) => process.on("message", (message) => listener(message as ToSupervisor)),
  onCut: (listener) => process.on("disconnect", listener),
});
process.exit();

/** When memory runs out, the system should kill our children, not the server. Children inherit this. */
function lowerImportance(): void {
  try {
    writeFileSync("/proc/self/oom_score_adj", OUT_OF_MEMORY_SCORE);
  } catch {
    // This system has no such thing.
  }
}
