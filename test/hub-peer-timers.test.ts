import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, newHandle } from "@octant/core";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { openHub } from "../packages/hub/testing/open-hub.ts";
import { startPostgres } from "../packages/hub/testing/postgres-cluster.ts";
import { openReceiver } from "../packages/hub/testing/webhook-receiver.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const LIFE_MS = 4_000;
const WAIT = { timeout: 60_000, interval: 50 };
const PROJECTS = 4;

describe.skipIf(inject("missing").includes("postgresql"))("timers and webhooks of two hubs", () => {
  let postgres: ReturnType<typeof startPostgres>;
  beforeAll(() => {
    postgres = startPostgres();
  });
  afterAll(() => postgres[Symbol.dispose]());

  test("each idle stop, removal and deletion happens once and is reported once, also when a hub is stuck", async () => {
    const receiver = await openReceiver();
    void (async () => {
      for (;;) (await receiver.next()).answer(204);
    })();
    const folder = mkdtempSync(join(tmpdir(), "octant-hub-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const database = postgres.createDatabase();
    const open = async () => {
      const clock = createJumpClock();
      const opened = await openHub({ folder, database, clock, lifeMs: LIFE_MS, netAllow: [receiver.host] });
      return { ...opened, clock };
    };
    const [one, two] = [await open(), await open()];
    await one.get("webhook.create", { url: receiver.url });
    const limits = { idle_stop_minutes: 10, archive_days: 2, delete_days: 4 };
    const projects: string[] = [];
    for (let n = 0; n < PROJECTS; n += 1) {
      const [own, other] = n % 2 === 0 ? [one, two] : [two, one];
      const { project_id } = await own.get<{ project_id: string }>("project.create", {
        ...{ name: `demo${n}`, limits },
      });
      projects.push(project_id);
      const { workspace_id } = await other.get<{ workspace_id: string }>("workspace.create", { project_id });
      await addIdleSession(own, project_id, workspace_id);
      await other.get("container.start", { project_id });
    }
    const events = (type: string) =>
      receiver.all.filter(({ event }) => event.type === type).map(({ id }) => id);
    /** Every project has one, and no later look of any hub adds another. */
    const happensOnce = async (type: string, jump: () => void, count = PROJECTS) => {
      jump();
      await expect.poll(() => events(type).length, WAIT).toBe(count);
      both(2 * MINUTE_MS)();
      await expect.poll(haveLooked, WAIT).toBe(true);
      expect(new Set(events(type)).size).toBe(count);
      expect(events(type)).toHaveLength(count);
    };
    const both = (ms: number) => () => {
      for (const { clock } of [one, two]) clock.jump(ms);
    };
    const haveLooked = () => one.clock.hasLooked() && two.clock.hasLooked();
    await expect.poll(() => events("project.created").length, WAIT).toBe(PROJECTS);
    // A hub counts from its first look at a project.
    both(2 * MINUTE_MS)();
    await expect.poll(haveLooked, WAIT).toBe(true);
    await happensOnce("container.stopped", both(11 * MINUTE_MS));
    await happensOnce("container.removed", both(2 * DAY_MS));
    // The first hub is stuck: it reports no more, and its timers run again when others have its projects.
    one.clock.isStuck = true;
    await expect
      .poll(async () => (await two.hub.store.peers?.owned())?.length, { ...WAIT, timeout: 90_000 })
      .toBe(PROJECTS);
    await happensOnce("session.deleted", both(3 * DAY_MS));
    for (const project_id of projects)
      expect(await two.get("session.list", { project_id })).toMatchObject({ total: 0 });
    expect([...one.log, ...two.log].filter((line) => line.includes("failed"))).toEqual([]);
  }, 240_000);
});

type Opened = Awaited<ReturnType<typeof openHub>>;

async function addIdleSession({ hub }: Opened, project_id: string, workspace_id: string): Promise<void> {
  const id = newHandle("ses", Date.now());
  const at = new Date().toISOString();
  await hub.store.records("session").add({
    ...{ id, project_id, workspace_id, state: "idle", root_id: id, depth: 0, cost: 0 },
    ...{ caller_tools: [], pending: [], created_at: at, updated_at: at },
  });
}

/** Short sleeps take their time; longer ones end when the test jumps over them. */
function createJumpClock() {
  const SHORT_MS = 2_000;
  let ahead = 0;
  let looking = 0;
  const sleeping = new Set<{ readonly until: number; readonly isShort: boolean; wake(): void }>();
  const now = () => Date.now() + ahead;
  const clock = {
    /** Nothing wakes up after a short sleep. */
    isStuck: false,
    now,
    sleep: (ms: number, signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const isShort = ms <= SHORT_MS;
        if (!isShort) looking -= 1;
        const sleeper = {
          ...{ until: now() + ms, isShort },
          wake() {
            sleeping.delete(sleeper);
            resolve();
          },
        };
        sleeping.add(sleeper);
        signal.addEventListener("abort", sleeper.wake, { once: true });
        if (isShort) setTimeout(() => clock.isStuck || sleeper.wake(), ms).unref();
      }),
    jump(ms: number): void {
      ahead += ms;
      const due = [...sleeping].filter(({ until, isShort }) => !isShort && until <= now());
      looking = due.length;
      for (const { wake } of due) wake();
    },
    /** Everything that the last jump woke up sleeps again. */
    hasLooked: () => looking <= 0,
  } satisfies Clock & Record<string, unknown>;
  return clock;
}
