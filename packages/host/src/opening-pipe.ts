import { readdirSync, readFileSync } from "node:fs";
import { attempt } from "@octant/core";

/** The kernel function in which a Linux thread sleeps while it opens a pipe without a peer. */
const OPENING_A_PIPE = "wait_for_partner";
const MAX_DEPTH = 8;

/** Whether the process or one below it waits for the other end of a pipe; false where the system does not show it. */
export function isOpeningPipe(pid: number, depth = 0): boolean {
  const tasks = `/proc/${pid}/task`;
  const threads = attempt(() => readdirSync(tasks)) ?? [];
  const read = (thread: string, name: string) =>
    attempt(() => readFileSync(`${tasks}/${thread}/${name}`, "latin1")) ?? "";
  return threads.some(
    (thread) =>
      read(thread, "wchan") === OPENING_A_PIPE ||
      (depth < MAX_DEPTH &&
        read(thread, "children")
          .split(" ")
          .some((child) => child !== "" && isOpeningPipe(Number(child), depth + 1))),
  );
}
