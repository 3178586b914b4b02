import { randomBytes } from "node:crypto";
import type { ServedProject } from "./processes-server.ts";
import { isRunning, listDescendants, listMarked, type Seen } from "./processes-table.ts";

const LATER = "sleep 1000";
const FAR_AWAY = ">/dev/null 2>&1 </dev/null";

/** Ten stubborn commands: each prints `up` when all its processes have started. */
const STAYERS: readonly { readonly command: string | readonly string[]; readonly pty?: object }[] = [
  { command: `echo up; ${LATER}` },
  { command: `trap '' TERM INT HUP; echo up; while :; do sleep 0.1; done` },
  { command: `setsid ${LATER} & echo up; wait` },
  { command: `(setsid sh -c '${LATER} & ${LATER}' ${FAR_AWAY} &); echo up; ${LATER}` },
  { command: `setsid sh -c 'trap "" TERM HUP; while :; do sleep 0.1; done' ${FAR_AWAY} & echo up; ${LATER}` },
  { command: `echo up; while :; do setsid sleep 0.05; done` },
  { command: `while :; do echo up; sleep 0.02; done` },
  { command: `echo up; kill -STOP $$; ${LATER}` },
  {
    command: [
      process.execPath,
      "--eval",
      `require("child_process").spawn("sleep", ["1000"], { detached: true, stdio: "ignore" }).unref();
       console.log("up"); setInterval(() => {}, 1000);`,
    ],
  },
  { command: `set -m; ${LATER} & nohup ${LATER} & echo up; wait`, pty: { cols: 80, rows: 24 } },
];

export const CROWD_SIZE = STAYERS.length;

/** The minimum number of processes of all of them together. */
export const MIN_CROWD_PROCESSES = 2 * CROWD_SIZE;

/** Processes of one server, found independently of Octant. */
export interface Crowd {
  /** Resolves with the ids of the acknowledged jobs, even when the server goes away meanwhile. */
  start(server: ServedProject): Promise<readonly string[]>;
  /** Records the current processes, in addition to marked ones, and returns their number. */
  remember(server: ServedProject): number;
  running(): readonly Seen[];
}

export function createCrowd(): Crowd {
  const value = randomBytes(8).toString("hex");
  const env = { OCTANT_TORTURE: value };
  const remembered = new Map<string, Seen>();
  const marked = () => listMarked(`OCTANT_TORTURE=${value}`);

  return {
    async start(server) {
      const leftBehind = server.call("proc", "exec", { command: `setsid ${LATER} ${FAR_AWAY} &`, env });
      const calls = STAYERS.map((stayer) =>
        server.call("proc", "exec", { ...stayer, env, wait_for: { pattern: "up" } }),
      );
      const answers = await Promise.allSettled([...calls, leftBehind]);
      return answers.flatMap((answer) =>
        answer.status === "fulfilled" ? (answer.value.meta.job_id ?? []) : [],
      );
    },
    remember(server) {
      for (const seen of [...listDescendants(server.pid), ...marked()])
        if (!seen.isZombie) remembered.set(`${seen.pid}:${seen.startTicks}`, seen);
      return remembered.size;
    },
    running() {
      const known = [...remembered.values()].filter(isRunning);
      // Reading every environment is slow and disturbs the measurement, so only when it can change the answer.
      return known.length > 0 ? known : marked();
    },
  };
}
