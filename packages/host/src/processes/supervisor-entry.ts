import { writeFileSync } from "node:fs";
import { attempt } from "@octant/core";
import type { ToServer, ToSupervisor } from "./protocol.ts";
import { Supervisor } from "./supervisor.ts";

const OUT_OF_MEMORY_SCORE = "500";

process.title = "octant-supervisor";
// When memory runs out, the system should kill our children, which inherit this, not the server. Linux only.
attempt(() => writeFileSync("/proc/self/oom_score_adj", OUT_OF_MEMORY_SCORE));
// Only the end of the server ends the supervisor: a Ctrl-C is meant for others. Handlers, unlike "ignore", are not inherited.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

let supervisor: Supervisor | undefined;
// The server may exit in the middle of a message; the closed channel reports that.
const send = (message: ToServer) => process.connected && process.send?.(message, () => {});
const finish = async () => {
  await supervisor?.close();
  process.exit();
};
process.on("disconnect", finish);
process.on("message", async (raw) => {
  const message = raw as ToSupervisor; // The other end is not shared.
  if (message.type === "hello") supervisor = new Supervisor(message.hello, send);
  else if (message.type === "close") {
    send({ type: "closing" });
    await finish();
  } else if (supervisor) send(await supervisor.answer(message));
});
