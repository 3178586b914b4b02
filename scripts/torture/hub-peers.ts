import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { counted } from "@octant/core";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { startPostgres } from "../../packages/hub/testing/postgres-cluster.ts";
import { createFixtureProject } from "../../test/fixture-project.ts";
import { modelOf, startHub } from "../../test/start-hub.ts";
import { p95 } from "./event-readers.ts";
import { counting, FILE, linesUpTo } from "./hub-kills.ts";
import type { Torture } from "./report.ts";

type Hub = Awaited<ReturnType<typeof startHub>>;

const HUBS = 2;
const MAX_SESSIONS = 50;
const KILLS_PER_SESSION = 4;
const SPARE = 10;
const PROJECTS = 4;
/** A session is at work for so many kills that most of them have started their tools. */
const KILLS_PER_LINE = 10;
const MIN_LINES = 3;
const LINE_S = 1;
/** Of each session before the first kill. */
const CALM_EVENTS = 20;
const MAX_EVENTS_BETWEEN = 12;
const SCHEDULES = 10;
const FIRINGS_PER_KILL = 20;
/** Seconds between two firings of a schedule. */
const EVERY_S = 2;
const PAUSE_MS = 100;

/** Hubs on one database and one folder, of which one at a time is killed and started again. */
async function openHubs(script: Script) {
  const project = createFixtureProject();
  const provider = await createScriptedProvider(script);
  const postgres = startPostgres();
  const folder = join(project.root, "..", "hubs");
  const env = {
    ...project.env,
    ...modelOf(provider),
    OCTANT_HUB_DATABASE: postgres.createDatabase(),
  };
  const start = () => startHub(env, project.root, ["--folder", folder]);
  const hubs: Hub[] = [];
  for (let n = 0; n < HUBS; n += 1) hubs.push(await start());
  const hubAt = (n: number): Hub => hubs[n % HUBS] as Hub;
  /** Since when all hubs and the database have been running. */
  let wholeSince = Date.now();
  return {
    folder,
    hubAt,
    wholeSince: () => wholeSince,
    crashPostgres(): void {
      postgres.stop();
      postgres.start();
      wholeSince = Date.now();
    },
    /** The answer of any hub that gives one; a call that a kill cut off is asked again. */
    async ask<T>(n: number, name: string, input: object): Promise<T> {
      for (let attempt = n; ; attempt += 1)
        try {
          return await hubAt(attempt).call<T>(name, input);
        } catch (cause) {
          if (attempt > n + 100) throw cause;
          await delay(PAUSE_MS);
        }
    },
    async kill(n: number): Promise<void> {
      const { child } = hubAt(n);
      wholeSince = Number.POSITIVE_INFINITY;
      child.kill("SIGKILL");
      await once(child, "close");
      hubs[n % HUBS] = await start();
      wholeSince = Date.now();
    },
    /** The exit codes of hubs that are asked to stop. */
    async stop(): Promise<readonly unknown[]> {
      const codes = [];
      for (const { child } of hubs) {
        const ended = once(child, "close");
        child.kill("SIGTERM");
        codes.push((await ended)[0]);
      }
      return codes;
    },
    async [Symbol.asyncDispose]() {
      for (const { child } of hubs) child.kill("SIGKILL");
      postgres[Symbol.dispose]();
      await provider.close();
      project[Symbol.dispose]();
    },
  };
}

interface Followed {
  readonly id: string;
  readonly project_id: string;
  readonly workspace_id: string;
  readonly seen: number[];
}

/** Reads the events of a session at changing hubs until the signal; `onLive` gets when an event was made that is new. */
async function follow(
  { id, seen }: Followed,
  hubOf: () => Hub,
  onLive: (at: number) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted)
    try {
      const { url, token } = hubOf();
      const headers = { authorization: `Bearer ${token}`, "last-event-id": String(seen.at(-1) ?? 0) };
      const response = await fetch(new URL(`/sessions/${id}/events`, url), { headers, signal });
      const opened = Date.now();
      let text = "";
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += chunk;
        const frames = text.split("\n\n");
        text = frames.pop() ?? "";
        for (const frame of frames) {
          const { seq, at } = JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? "{}");
          if (seq === undefined) continue;
          seen.push(seq);
          // Events of before are caught up with.
          if (Date.parse(at) > opened) onLive(Date.parse(at));
        }
      }
    } catch {
      // The hub was killed; another one has the rest.
      if (!signal.aborted) await delay(PAUSE_MS);
    }
}

/**
 * Runs sessions of several projects on two hubs that share a database, and kills one of the hubs -9 again and again.
 * PostgreSQL crashes once, too. Each session must end as planned, and a reader must see every event once and in order.
 */
export const hubPeerKills: Torture = async (kills, random, onProgress) => {
  const count = Math.min(MAX_SESSIONS, Math.max(2, Math.ceil(kills / KILLS_PER_SESSION)));
  const violations: string[] = [];
  const lines = Math.max(MIN_LINES, Math.ceil(kills / KILLS_PER_LINE));
  await using world = await openHubs(counting(lines, LINE_S));
  const { ask, folder, hubAt, wholeSince } = world;
  const sessions: Followed[] = [];
  const ages: number[] = [];
  const stop = new AbortController();
  const reading: Promise<void>[] = [];
  const projects: string[] = [];
  for (let n = 0; n < PROJECTS; n += 1)
    projects.push(
      (
        await hubAt(n).call<{ project_id: string }>("project.create", {
          ...{ name: `demo${n}`, model: "some-model", limits: { max_sessions: MAX_SESSIONS } },
        })
      ).project_id,
    );
  let spawned = 0;
  const spawn = async () => {
    const n = spawned++;
    const project_id = projects[n % PROJECTS] ?? "";
    const message = `Write the lines of session ${n}.`;
    // At any hub: half of them have to pass it on. No hub is dead at this moment.
    const { session_id, workspace_id } = await hubAt(Math.floor(n / PROJECTS)).call<Record<string, string>>(
      "session.spawn",
      { project_id, message },
    );
    const followed = { id: session_id ?? "", project_id, workspace_id: workspace_id ?? "", seen: [] };
    sessions.push(followed);
    let at = n;
    reading.push(
      follow(
        followed,
        () => hubAt(at++),
        (at) => at > wholeSince() && ages.push(Date.now() - at),
        stop.signal,
      ),
    );
  };
  const total = () => sessions.reduce((sum, { seen }) => sum + seen.length, 0);
  const states = async () =>
    (
      await Promise.all(
        projects.map((project_id, n) =>
          ask<{ sessions: { session_id: string; state: string; outcome?: string }[] }>(n, "session.list", {
            ...{ project_id, limit: 1_000 },
          }),
        ),
      )
    ).flatMap((page) => page.sessions);
  const working = async () => (await states()).filter(({ state }) => state === "working").length;
  let crashes = 0;
  let calm = 0;
  for (let killed = 0; killed < kills; killed += 1) {
    // Every kill meets as many sessions at work. Some end while others are spawned, hence a few more.
    for (let now = await working(); now < count; now = await working())
      await Promise.all(Array.from({ length: count + SPARE - now }, spawn));
    const wanted =
      killed === 0 ? count * CALM_EVENTS : total() + 1 + Math.floor(random() * MAX_EVENTS_BETWEEN);
    while (total() < wanted && (await working()) > 0) await delay(PAUSE_MS);
    if (killed === 0) calm = ages.length;
    if (killed === Math.floor(kills / 2)) {
      world.crashPostgres();
      crashes += 1;
    }
    await world.kill(Math.floor(random() * HUBS));
    onProgress(killed + 1);
  }
  while ((await working()) > 0) await delay(PAUSE_MS);
  const wrong = (await states()).filter(({ state, outcome }) => state !== "idle" || outcome !== "done");
  for (const session of wrong) violations.push(`a session ended as ${JSON.stringify(session)}`);
  for (const { id, project_id, workspace_id, seen } of sessions) {
    const { last_index } = await ask<{ last_index: number }>(0, "session.events", {
      ...{ session_id: id, max_events: 1_000 },
    });
    for (let n = 0; seen.length < last_index && n < 100; n += 1) await delay(PAUSE_MS);
    if (seen.length !== last_index || !seen.every((seq, at) => seq === at + 1))
      violations.push(`${id}: of ${last_index} events a reader saw ${seen.join(" ")}`);
    const text = readFileSync(join(folder, "projects", project_id, "workspaces", workspace_id, FILE), "utf8");
    if (text !== linesUpTo(lines)) violations.push(`${id}: ${FILE} has ${JSON.stringify(text)}`);
  }
  stop.abort();
  await Promise.all(reading);
  const codes = await world.stop();
  if (codes.some((code) => code !== 0)) violations.push(`the hubs ended with ${codes.join(", ")}`);
  return {
    what: `kill -9 of one of ${HUBS} hubs on PostgreSQL with ${count} sessions at work`,
    facts: `${kills} kills, ${counted(crashes, "crash", "crashes")} of PostgreSQL, ${sessions.length} sessions, ${total()} events read in order, p95 from event to reader ${p95(ages.slice(0, calm))} ms of ${calm} before the first kill, and ${p95(ages.slice(calm))} ms of ${ages.length - calm} between kills while all hubs ran`,
    violations,
  };
};

interface Run {
  readonly due_at: string;
  readonly state: string;
  readonly session_id?: string;
  readonly reason?: string;
}

/** Schedules that fire every few seconds, on two hubs of which one at a time is killed: each firing runs exactly once. */
export const hubPeerSchedules: Torture = async (firings, random, onProgress) => {
  const violations: string[] = [];
  await using world = await openHubs(() => ({ parts: [{ text: "Done." }] }));
  const { ask, hubAt } = world;
  const count = Math.min(SCHEDULES, Math.max(2, Math.ceil(firings / FIRINGS_PER_KILL)));
  const schedules: { id: string; project_id: string }[] = [];
  for (let n = 0; n < count; n += 1) {
    const { project_id } = await hubAt(n).call<{ project_id: string }>("project.create", {
      ...{ name: `demo${n}`, model: "some-model" },
    });
    const { schedule_id } = await hubAt(n + 1).call<{ schedule_id: string }>("schedule.create", {
      ...{ project_id, name: "often", cron: `*/${EVERY_S} * * * * *`, time_zone: "UTC", message: "Work." },
      ...{ overlap: "queue", missed: "all" },
    });
    schedules.push({ id: schedule_id, project_id });
  }
  const historyOf = async ({ id }: { readonly id: string }, n: number) =>
    (await ask<{ runs: Run[] }>(n, "schedule.history", { schedule_id: id, limit: 500 })).runs;
  const all = async () => (await Promise.all(schedules.map(historyOf))).flat();
  let killed = 0;
  for (let fired = 0; fired < firings; fired = (await all()).length) {
    const wanted = fired + 1 + Math.floor(random() * FIRINGS_PER_KILL);
    while ((await all()).length < wanted) await delay(PAUSE_MS);
    await world.kill(Math.floor(random() * HUBS));
    killed += 1;
    onProgress(Math.min(fired, firings));
  }
  for (const [n, { id }] of schedules.entries())
    await ask(n, "schedule.update", { schedule_id: id, enabled: false });
  while ((await all()).some(({ state }) => state === "queued" || state === "running")) await delay(PAUSE_MS);
  let runs = 0;
  for (const [n, schedule] of schedules.entries()) {
    const history = (await historyOf(schedule, n)).toReversed();
    runs += history.length;
    const seconds = history.map(({ due_at }) => Date.parse(due_at) / 1_000);
    const gaps = seconds.filter((second, at) => at > 0 && second !== (seconds[at - 1] ?? 0) + EVERY_S);
    if (gaps.length > 0) violations.push(`${schedule.id}: firings ${seconds.join(" ")}`);
    for (const run of history.filter(({ state }) => state !== "done"))
      violations.push(`${schedule.id}: ${JSON.stringify(run)}`);
    const { sessions, total } = await ask<{ sessions: { session_id: string }[]; total: number }>(
      n,
      "session.list",
      { project_id: schedule.project_id, limit: 1_000 },
    );
    const started = new Set(history.map(({ session_id }) => session_id));
    if (total !== history.length || sessions.some(({ session_id }) => !started.has(session_id)))
      violations.push(`${schedule.id}: ${history.length} firings and ${total} sessions`);
    for (const { session_id } of sessions) {
      const { events } = await ask<{ events: { type: string; origin?: string }[] }>(n, "session.events", {
        ...{ session_id, max_events: 1_000 },
      });
      const users = events.filter(({ type, origin }) => type === "user" && origin !== "context").length;
      if (users !== 1) violations.push(`${session_id}: ${users} messages`);
    }
  }
  const codes = await world.stop();
  if (codes.some((code) => code !== 0)) violations.push(`the hubs ended with ${codes.join(", ")}`);
  return {
    what: `schedules of ${HUBS} hubs on PostgreSQL with kill -9`,
    facts: `${runs} firings, ${killed} kills, each exactly once`,
    violations,
  };
};
