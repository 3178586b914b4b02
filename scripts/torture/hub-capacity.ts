import { setTimeout as delay } from "node:timers/promises";
import type { StampedEvent } from "@octant/agent";
import { followEvents } from "../../packages/hub/src/events/follow-events.ts";
import { createHubLogs } from "../../packages/hub/src/sessions/session-logs.ts";
import { openPostgresHubStore } from "../../packages/hub/src/store/postgres-hub-store.ts";
import { startPostgres } from "../../packages/hub/testing/postgres-cluster.ts";
import type { Torture } from "./report.ts";

/** About the size of an average event. */
const TEXT = "x".repeat(700);
const FAST_EVENTS = 100;
const PACED_EVENTS = 20;
/** A session at work has about two events in a second. */
const PACE_MS = 500;

/**
 * Measures events of this many sessions on a durable PostgreSQL: as many as it takes, then as many as sessions really
 * have; read by another hub. A measurement of the machine rather than of a promise, which holds is that none is lost.
 */
export const hubCapacity: Torture = async (count, _random, onProgress) => {
  using postgres = startPostgres({ isDurable: true });
  const url = postgres.createDatabase();
  await using writer = await open(url);
  await using reader = await open(url);
  const violations: string[] = [];
  const ids = Array.from({ length: count }, (_, n) => `ses_${n}`);
  await writer.store.peers?.claim("p");
  for (const id of ids)
    await writer.store.records("session").add({ id, project_id: "p", created_at: new Date().toISOString() });
  const stop = new AbortController();
  const ages: number[] = [];
  const last = FAST_EVENTS + PACED_EVENTS;
  const reading = ids.map(async (id) => {
    const seen: number[] = [];
    for await (const page of followEvents(reader.logs, id, 0, stop.signal)) {
      for (const { seq, at } of page) {
        seen.push(seq);
        if (seq > FAST_EVENTS) ages.push(Date.now() - Date.parse(at));
      }
      if (seen.length >= last) break;
    }
    if (!seen.every((seq, n) => seq === n + 1)) violations.push(`${id}: ${seen.join(" ")}`);
  });
  const logs = await Promise.all(ids.map((id) => writer.logs.logs.open(id)));
  const append = (n: number, seq: number) => logs[n]?.append(toEvent(ids[n] ?? "", seq));
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  await Promise.all(
    ids.map(async (_, n) => {
      for (let seq = 1; seq <= FAST_EVENTS; seq += 1) await append(n, seq);
    }),
  );
  const seconds = (performance.now() - began) / 1_000;
  const used = process.cpuUsage(cpu);
  onProgress(Math.floor(count / 2));
  await Promise.all(
    ids.map(async (_, n) => {
      // Not all at the same moment.
      await delay((n / count) * PACE_MS);
      for (let seq = FAST_EVENTS + 1; seq <= last; seq += 1) {
        await append(n, seq);
        await delay(PACE_MS);
      }
    }),
  );
  await Promise.all(reading);
  onProgress(count);
  stop.abort();
  const events = count * FAST_EVENTS;
  const sorted = ages.toSorted((one, other) => one - other);
  const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? 0;
  const cpuMs = (used.user + used.system) / 1_000 / events;
  return {
    what: `events of ${count} sessions on PostgreSQL, read by another hub`,
    facts: `${Math.round(events / seconds)} events/s at most, ${cpuMs.toFixed(2)} ms of processor time for each in writer and reader together; at ${1_000 / PACE_MS} events/s in each session p50 ${at(0.5)} ms, p95 ${at(0.95)} ms from event to reader`,
    violations,
  };
};

async function open(url: string) {
  const store = await openPostgresHubStore({ url, log() {} });
  await store.peers?.beat({ id: store.peers.hub_id, place: "p", machine: "m", where: "w" }, 3_600_000);
  const logs = await createHubLogs(store.events);
  return {
    store,
    logs,
    async [Symbol.asyncDispose]() {
      await logs[Symbol.asyncDispose]();
      await store.close();
    },
  };
}

const toEvent = (id: string, seq: number): StampedEvent => ({
  ...{ type: "notice", level: "info", text: TEXT, seq, session_id: id, at: new Date().toISOString() },
});
