import type { Processes, ProcessInfo } from "@octant/host";
import { expect, test } from "vitest";
import { stopCancelled } from "./stop-cancelled.ts";

test("a cancelled program that ignores SIGTERM is killed", async () => {
  const sent: (string | undefined)[] = [];
  const ended = Promise.withResolvers<ProcessInfo>();
  const kill: Processes["kill"] = (_owner, _id, signal) => {
    sent.push(signal);
    if (signal === "SIGKILL") ended.resolve({} as ProcessInfo); // Nobody reads it.
    return ended.promise;
  };
  await stopCancelled({ kill }, "me", "proc_1");
  expect(sent).toEqual([undefined, "SIGKILL"]);
});
