import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { startNatsServer } from "../../packages/wire/testing/nats-server.ts";
import { createFixtureProject } from "../../test/fixture-project.ts";
import { modelOf, startHost, startHub, stopAll } from "../../test/start-hub.ts";
import { type ProcessUse, useOf } from "./process-use.ts";
import type { Torture } from "./report.ts";

/** Calls of each session between the two measurements. */
const CALLS = 10;
const PAUSE_MS = 200;
const WAIT_TOOL = {
  name: "wait",
  description: "Waits until everybody is there.",
  input_schema: { type: "object", properties: { n: { type: "number" } } },
};

/** Runs a command, waits for the others, runs CALLS commands, and waits again. */
const SCRIPT: Script = ({ answers }) => {
  const call = (tool: string, input: object) => ({ parts: [{ call: tool, input }] });
  if (answers === 1 || answers === CALLS + 2) return call("caller", { action: "wait", n: answers });
  if (answers < CALLS + 2) return call("proc", { action: "exec", command: `: ${answers}; ls` });
  return { parts: [{ text: "Done." }] };
};

interface Event {
  readonly seq: number;
  readonly name?: string;
  readonly data?: { readonly request_id: string };
}

/**
 * Measures what a session costs its host and its hub: memory while it waits, processor time of its start and of its
 * calls. A measurement of the machine rather than of a promise; that every session ends well is one.
 */
export const hostCapacity: Torture = async (count, _random, onProgress) => {
  using project = createFixtureProject();
  const nats = await startNatsServer();
  await using provider = await createScriptedProvider(SCRIPT);
  const env = { ...project.env, ...modelOf(provider), OCTANT_NATS: nats.url };
  const hub = await startHub(env, project.root, [], []);
  const host = await startHost(env, join(project.root, "..", "host"), ["--max-sessions", String(count)]);
  const measure = () => ({ hub: useOf(hub.child.pid ?? 0).own, host: useOf(host.child.pid ?? 0) });
  try {
    const { project_id } = await hub.call<{ project_id: string }>("project.create", {
      ...{ name: "demo", model: "some-model", limits: { max_sessions: count } },
    });
    const empty = measure();
    const sessions: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const given = { project_id, message: `Session ${n}.`, caller_tools: [WAIT_TOOL] };
      sessions.push((await hub.call<{ session_id: string }>("session.spawn", given)).session_id);
    }
    /** The requests of all sessions when each has made this many. */
    const requests = async (wanted: number): Promise<ReadonlyMap<string, string>> => {
      const found = new Map<string, string>();
      for (const session_id of sessions)
        for (; !found.has(session_id); await delay(PAUSE_MS)) {
          const { events } = await hub.call<{ events: Event[] }>("session.events", {
            ...{ session_id, max_events: 500 },
          });
          const asked = events.filter(({ name }) => name === "caller_tool_request");
          const id = asked[wanted - 1]?.data?.request_id;
          if (id !== undefined) found.set(session_id, id);
        }
      return found;
    };
    const answer = async (asked: ReadonlyMap<string, string>) => {
      for (const [session_id, request_id] of asked)
        await hub.call("caller_tool_response.respond", { session_id, request_id, result: {} });
    };
    const first = await requests(1);
    onProgress(Math.floor(count / 2));
    const idle = measure();
    await answer(first);
    const second = await requests(2);
    const worked = measure();
    await answer(second);
    for (const session_id of sessions)
      await hub.call("session.events", { session_id, until: "idle", wait: 60_000 });
    const { sessions: ended } = await hub.call<{ sessions: { outcome?: string }[] }>("session.list", {
      project_id,
      limit: 1_000,
    });
    onProgress(count);
    const each = (value: number, by = count) => (value / by).toFixed(1);
    const cpu = (before: ProcessUse, after: ProcessUse) => after.cpuMs - before.cpuMs;
    const calls = count * CALLS;
    return {
      what: `${count} sessions at once on one host`,
      facts: [
        `tools ${each(idle.host.below.memoryMb)} MB each`,
        `host ${each(idle.host.own.memoryMb - empty.host.own.memoryMb)} MB and hub ${each(idle.hub.memoryMb - empty.hub.memoryMb)} MB more for each`,
        `start ${each(cpu(empty.host.below, idle.host.below))} ms of processor time of the tools, ${each(cpu(empty.host.own, idle.host.own))} ms of the host, ${each(cpu(empty.hub, idle.hub))} ms of the hub`,
        `call ${each(cpu(idle.host.below, worked.host.below), calls)} ms, ${each(cpu(idle.host.own, worked.host.own), calls)} ms, ${each(cpu(idle.hub, worked.hub), calls)} ms`,
      ].join("; "),
      violations: ended.filter(({ outcome }) => outcome !== "done").map((one) => JSON.stringify(one)),
    };
  } finally {
    await stopAll([hub.child, host.child]);
    await nats.stop();
  }
};
