import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { createSource } from "../../packages/hub/testing/open-hub.ts";
import { startNatsServer } from "../../packages/wire/testing/nats-server.ts";
import { createFixtureProject } from "../../test/fixture-project.ts";
import { CONTAINED_LAUNCHER } from "../../test/published-command.ts";
import { modelOf, startHub } from "../../test/start-hub.ts";
import { createNetworks } from "./host-networks.ts";
import type { Torture } from "./report.ts";

const HOSTS = 3;
const ROUNDS = 25;
const SESSIONS_PER_HOST = "4";
/** A lease ends after 10 s. */
const LONG_CUT_MS = 14_000;
const MAX_PAUSE_MS = 15_000;
const DISK_MB = 160;
const FULL_MS = 10_000;

interface Progress {
  round: number;
  phase: "begin" | "write" | "read";
  /** Calls that said that the host was lost, or why they failed. */
  interrupted: number;
  failed: number;
}

/**
 * Sessions on three hosts write files and read them back while hosts are killed, links are cut, the NATS server is
 * killed and the disk of one host is full. A read that answers anything but the session's own last write, without an
 * interruption in between, is a violation.
 */
export const hosts: Torture = async (count, random, onProgress) => {
  const violations: string[] = [];
  const progress = new Map<string, Progress>();
  const rounds = Math.min(ROUNDS, count);
  let readBack = 0;
  let calls = 0;
  const script: Script = ({ user, results }) => {
    const own = progress.get(user) ?? { round: 0, phase: "begin", interrupted: 0, failed: 0 };
    progress.set(user, own);
    const [result] = results;
    const text = result?.text ?? "";
    const expected = `${user} round ${own.round}.`;
    if (text.includes("INTERRUPTED")) own.interrupted += 1;
    else if (own.phase === "read") {
      if (text.includes(expected)) {
        readBack += 1;
        own.round += 1;
        onProgress(readBack);
      } else if (/round \d+\./.test(text))
        violations.push(`${user}: read ${text.slice(0, 200)}, not ${expected}`);
      else own.failed += 1;
    } else if (own.phase === "write" && !text.includes("has own.txt")) own.failed += 1;
    const isWritten = own.phase === "write" && text.includes("has own.txt") && !text.includes("INTERRUPTED");
    if (own.round >= rounds) return { parts: [{ text: "All read back." }] };
    own.phase = isWritten ? "read" : "write";
    // The number keeps a repeated call from looking like a loop.
    calls += 1;
    const command = isWritten
      ? `: ${calls}; cat own.txt`
      : `: ${calls}; echo '${user} round ${own.round}.' > own.txt && echo has own.txt`;
    return { parts: [{ call: "proc", input: { action: "exec", command: ["sh", "-c", command] } }] };
  };

  using project = createFixtureProject();
  using networks = createNetworks(HOSTS);
  await using provider = await createScriptedProvider(script);
  const base = join(project.root, "..");
  const source = createSource(base);
  const nats = await startNatsServer({ host: networks.address });
  const env = { ...project.env, ...modelOf(provider), OCTANT_NATS: nats.url };
  const hub = await startHub(env, project.root, [], []);
  const said: string[] = [];
  const disk = join(base, "host0");
  mkdirSync(disk);
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MB}m`, "tmpfs", disk]);
  const machines: (ChildProcess | undefined)[] = [];
  const start = async (n: number) => {
    const [program = "", ...args] = networks.enter(n);
    const flags = ["host", "--engine", "local", "--json", "--max-sessions", SESSIONS_PER_HOST];
    const { ANTHROPIC_API_KEY: _key, ...own } = env;
    const child = spawn(
      program,
      [...args, process.execPath, CONTAINED_LAUNCHER, ...flags, "--folder", join(base, `host${n}`)],
      {
        env: own,
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    machines[n] = child;
    createInterface({ input: child.stderr }).on("line", (line) => said.push(`host${n}: ${line}`));
    await once(createInterface({ input: child.stdout }), "line");
  };
  const kill = async (n: number) => {
    const child = machines[n];
    if (!child) return;
    const ended = once(child, "close");
    child.kill("SIGKILL");
    await ended;
  };
  const events: Record<string, number> = { kills: 0, cuts: 0, "NATS kills": 0, "full disks": 0 };
  const noted = (name: string) => {
    events[name] = (events[name] ?? 0) + 1;
  };
  const disturb = [
    async (n: number) => {
      noted("kills");
      await kill(n);
      await start(n);
    },
    async (n: number) => {
      noted("cuts");
      networks.cut(n);
      await sleep(random() < 0.5 ? LONG_CUT_MS : random() * LONG_CUT_MS);
      networks.join(n);
    },
    async () => {
      noted("NATS kills");
      await nats.kill();
      await nats.restart();
    },
    async () => {
      noted("full disks");
      const file = join(disk, "full");
      execFileSync("sh", ["-c", `cat /dev/zero > '${file}' || true`], { stdio: "ignore" });
      await sleep(FULL_MS);
      rmSync(file, { force: true });
    },
  ];
  try {
    await Promise.all(Array.from({ length: HOSTS }, (_, n) => start(n)));
    const sessions = Math.max(2, Math.ceil(count / rounds));
    const { project_id } = await hub.call<{ project_id: string }>("project.create", {
      ...{ name: "demo", folder: source, model: "some-model", limits: { max_sessions: sessions } },
    });
    const ids: string[] = [];
    for (let n = 0; n < sessions; n++) {
      const message = `Session ${n}:`;
      ids.push((await hub.call<{ session_id: string }>("session.spawn", { project_id, message })).session_id);
    }
    const list = async () =>
      (
        await hub.call<{
          sessions: { session_id: string; state: string; outcome?: string; problem?: string }[];
        }>("session.list", { project_id })
      ).sessions;
    const isWorking = async () => (await list()).some(({ state }) => state === "working");
    // Each kind once at first, then at random.
    for (let at = 0; await isWorking(); at++) {
      await sleep(random() * MAX_PAUSE_MS);
      if (!(await isWorking())) break;
      const one = disturb[at < disturb.length ? at : Math.floor(random() * disturb.length)];
      await one?.(Math.floor(random() * HOSTS));
    }
    for (const { session_id, state, outcome, problem } of await list())
      if (state !== "idle" || outcome !== "done")
        violations.push(`${session_id} ended as ${state} ${outcome}: ${problem}`);
    let marks = 0;
    for (const session_id of ids) {
      const all: { seq: number; type: string; name?: string }[] = [];
      for (;;) {
        const page = await hub.call<{ events: typeof all }>("session.events", {
          ...{ session_id, since_index: all.at(-1)?.seq ?? 0, max_events: 500 },
        });
        all.push(...page.events);
        if (page.events.length === 0) break;
      }
      const ends = all.filter(({ type }) => type === "end");
      const shown = all.filter(({ type }) => type === "end" || type === "user" || type === "mark");
      if (ends.length !== 1)
        violations.push(`${session_id} ended ${ends.length} times: ${JSON.stringify(shown)}`);
      marks += all.filter(({ name }) => name === "host_lost").length;
    }
    const wanted = sessions * rounds;
    if (readBack !== wanted) violations.push(`${readBack} of ${wanted} writes were read back`);
    const sum = (field: "interrupted" | "failed") =>
      [...progress.values()].reduce((total, one) => total + one[field], 0);
    const what = Object.entries(events)
      .map(([name, times]) => `${times} ${name}`)
      .join(", ");
    return {
      what: `${sessions} sessions on ${HOSTS} hosts that are lost`,
      facts: `${readBack} of ${wanted} writes read back, ${what}, ${marks} losses told, ${sum("interrupted")} calls interrupted, ${sum("failed")} failed with a reason`,
      violations: violations.length > 0 ? [...violations, ...hub.said.slice(-40), ...said.slice(-40)] : [],
    };
  } catch (cause) {
    const { exitCode, signalCode } = hub.child;
    const end = exitCode ?? signalCode;
    const why = end === null ? "a call of the hub failed" : `the hub ended with ${end}`;
    throw new Error([why, ...hub.said.slice(-40), ...said.slice(-40)].join("\n"), { cause });
  } finally {
    hub.child.kill("SIGKILL");
    for (const n of machines.keys()) await kill(n);
    await nats.stop();
    execFileSync("umount", ["-l", disk]);
  }
};
