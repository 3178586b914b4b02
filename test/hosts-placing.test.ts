import { createScriptedProvider } from "@octant/scripted-provider";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openHost } from "../packages/hub/testing/open-host.ts";
import { openHub } from "../packages/hub/testing/open-hub.ts";
import { startPostgres } from "../packages/hub/testing/postgres-cluster.ts";
import { startNatsServer } from "../packages/wire/testing/nats-server.ts";
import type { HostedSession } from "./hosted-hub.ts";
import { modelOf } from "./start-hub.ts";
import { lacks } from "./ui/lacks.ts";

const WAIT = { timeout: 90_000, interval: 100 };

async function openServer() {
  const nats = await startNatsServer();
  onTestFinished(() => nats.stop());
  return { url: nats.url };
}

/** A hub of this process, and a project with a workspace for each call of `place`. */
async function openPlaces(more: Parameters<typeof openHub>[0] = {}) {
  const nats = more.nats ?? (await openServer());
  const opened = await openHub({ ...more, nats });
  let count = 0;
  const create = async (settings: object = {}) => {
    count += 1;
    return opened.get<{ project_id: string }>("project.create", { name: `demo${count}`, ...settings });
  };
  return {
    ...opened,
    nats,
    create,
    /** Runs a command in a new workspace of a new project. */
    async place(settings: object = {}) {
      const { project_id } = await create(settings);
      const { workspace_id } = await opened.get<{ workspace_id: string }>("workspace.create", { project_id });
      const answer = await opened.call("container.exec", {
        ...{ project_id, workspace_id, command: "git log --format=%s -1" },
      });
      return { project_id, workspace_id, answer };
    },
  };
}

describe.skipIf(lacks("nats-server", "bubblewrap"))("work for hosts", () => {
  test("goes only to hosts with its label", async () => {
    const { nats, place, log } = await openPlaces();
    const { host: plain } = await openHost({ nats });
    const { host: gpu } = await openHost({ nats, labels: ["gpu"] });
    for (const expected of [1, 2]) {
      const { answer } = await place({ labels: { host: "gpu" } });
      expect(answer, log.join("\n")).toMatchObject({
        ok: true,
        data: { exit_code: 0, stdout: "Create the project\n" },
      });
      expect([plain.places(), gpu.places()]).toEqual([0, expected]);
    }
  });

  test("is reported as without hosts: when a container starts, stops, also of itself, and is removed", async () => {
    const { hub, nats, get, create } = await openPlaces();
    await openHost({ nats });
    const { project_id } = await create({ limits: { disk_mb: 20 } });
    const { workspace_id } = await get<{ workspace_id: string }>("workspace.create", { project_id });
    const types = () =>
      hub.lifecycle
        .read(0)
        .events.flatMap(({ value: { type } }) => (/^container\.(.*)/.exec(type) ?? []).slice(1));
    const expected: string[] = [];
    const after = async (action: string, input: object, ...more: readonly string[]) => {
      await get(action, input);
      expected.push(...more);
      await expect.poll(types).toEqual(expected);
    };
    const exec = (command: string, ...more: readonly string[]) =>
      after("container.exec", { project_id, workspace_id, command }, ...more);
    await exec("true", "started");
    await exec("true");
    await after("container.stop", { project_id }, "stopped");
    const fill = "for i in 1 2 3; do head -c 9000000 /dev/zero > /workspaces/$i; done; sleep 300";
    await exec(fill, "started", "stopped");
    await exec("rm /workspaces/[123]", "started");
    await after("workspace.delete", { workspace_id }, "stopped", "removed");
    await after("container.start", { project_id }, "started");
    await after("container.refresh", { project_id }, "stopped", "removed", "started");
    await after("container.stop", { project_id }, "stopped");
    await after("project.delete", { project_id }, "removed");
  });

  test("goes to another host when one is full, by its number of sessions or its memory", async () => {
    const { nats, place } = await openPlaces();
    const { host: one } = await openHost({ nats, maxSessions: 1, memoryMb: 1_024 });
    // Only this host is there, and it has too little memory.
    const waiting = place({ limits: { memory_mb: 2_048 } });
    const small = await place({ limits: { memory_mb: 512 } });
    expect(small.answer.error?.code ?? "ok").not.toBe("OVERLOADED");
    expect(one.places()).toBe(1);
    const { host: other } = await openHost({ nats, memoryMb: 4_096 });
    await waiting;
    await place();
    expect([one.places(), other.places()]).toEqual([1, 2]);
  });

  test("is not lost to a second host on the same folder, which is refused", async () => {
    const nats = await openServer();
    const { folder } = await openHost({ nats });
    await expect(openHost({ nats, folder })).rejects.toMatchObject({
      code: "LOCKED",
      message: expect.stringContaining("another host runs"),
    });
  });

  test("gets the room of an idle workspace whose host was lost", async () => {
    const { nats, place, call, log } = await openPlaces();
    const { host: one } = await openHost({ nats, maxSessions: 1 });
    const first = await place();
    expect(first.answer).toMatchObject({ ok: true });
    const { host: two } = await openHost({ nats, maxSessions: 1 });
    await one.close();
    // The hub asks for a place for it again, without a use for it.
    await expect.poll(() => two.places(), WAIT).toBe(1);
    const second = await place();
    expect(second.answer, log.join("\n")).toMatchObject({ ok: true });
    const { project_id, workspace_id } = first;
    const look = () =>
      call("container.exec", { project_id, workspace_id, command: "git log --format=%s -1" });
    expect(await look(), log.join("\n")).toMatchObject({ ok: true, data: { exit_code: 0 } });
  }, 120_000);

  test("gets the room of work that was given up while it waited for a host", async () => {
    const { nats, place, log } = await openPlaces();
    expect((await place()).answer).toMatchObject({ ok: false, error: { code: "OVERLOADED" } });
    const { host } = await openHost({ nats, maxSessions: 1 });
    // The request is still in the queue.
    await expect.poll(() => host.places(), WAIT).toBe(1);
    expect((await place()).answer, log.join("\n")).toMatchObject({ ok: true });
  }, 120_000);

  test("that waits for one holds up neither the end of its session nor that of its hub", async () => {
    const provider = await createScriptedProvider([{ parts: [{ text: "Done." }] }]);
    onTestFinished(() => provider.close());
    const { create, get, hub } = await openPlaces({ env: modelOf(provider) });
    const { project_id } = await create({ model: "some-model" });
    const spawn = () => get<HostedSession>("session.spawn", { project_id, message: "Go." });
    const [ended, left] = [await spawn(), await spawn()];
    for (const { session_id } of [ended, left])
      await expect
        .poll(async () => (await get<HostedSession>("session.get", { session_id })).waiting, WAIT)
        .toContain("no host");
    expect(await get("session.end", { session_id: ended.session_id })).toMatchObject({ state: "ended" });
    await hub.drain();
    const { session_id } = left;
    expect(await get("session.get", { session_id })).toMatchObject({ state: "working" });
  });

  test("of a session waits for a host with its label, and the session says so", async () => {
    const provider = await createScriptedProvider([{ parts: [{ text: "Done." }] }]);
    onTestFinished(() => provider.close());
    const { nats, create, get, log } = await openPlaces({ env: modelOf(provider) });
    await openHost({ nats });
    const { project_id } = await create({ labels: { host: "gpu" }, model: "some-model" });
    const { session_id } = await get<HostedSession>("session.spawn", { project_id, message: "Go." });
    const session = () => get<HostedSession>("session.get", { session_id });
    await expect
      .poll(async () => (await session()).waiting, WAIT)
      .toBe("no host with the label 'gpu' has room; octant host --label gpu starts one");
    expect(await get("session.events", { session_id })).toMatchObject({
      state: "working",
      waiting: expect.stringContaining("'gpu'"),
    });
    await openHost({ nats, labels: ["gpu"] });
    await expect.poll(session, WAIT).toMatchObject({ state: "idle", outcome: "done" });
    expect((await session()).waiting, log.join("\n")).toBeUndefined();
  });
});

describe.skipIf(lacks("nats-server", "bubblewrap", "postgresql"))("hosts of two hubs", () => {
  let postgres: ReturnType<typeof startPostgres>;
  beforeAll(() => {
    postgres = startPostgres();
  });
  afterAll(() => postgres[Symbol.dispose]());

  test("a workspace that nobody uses makes room for work of the other hub", async () => {
    const database = postgres.createDatabase();
    const one = await openPlaces({ database });
    const two = await openPlaces({ database, nats: one.nats });
    const { host, log } = await openHost({ nats: one.nats, maxSessions: 1 });
    const first = await one.place();
    expect(first.answer).toMatchObject({ ok: true });
    const { project_id } = await two.create({ name: "second" });
    const { workspace_id } = await two.get<{ workspace_id: string }>("workspace.create", { project_id });
    expect(
      await two.call("container.exec", { project_id, workspace_id, command: "echo here" }),
      log.join("\n"),
    ).toMatchObject({ ok: true });
    expect(host.places()).toBe(1);
    // Its files were saved before.
    expect(await one.get("workspace.diff", { workspace_id: first.workspace_id })).toMatchObject({
      commits: [],
    });
  });

  test("a workspace that nobody uses and whose hub is gone makes room", async () => {
    const database = postgres.createDatabase();
    const one = await openPlaces({ database });
    const { host } = await openHost({ nats: one.nats, maxSessions: 1 });
    const first = await one.place();
    expect(first.answer).toMatchObject({ ok: true });
    const two = await openPlaces({ database, nats: one.nats });
    await one.hub[Symbol.asyncDispose]();
    const { project_id } = await two.create({ name: "second" });
    const { workspace_id } = await two.get<{ workspace_id: string }>("workspace.create", { project_id });
    const input = { project_id, workspace_id, command: "echo here" };
    expect(await two.call("container.exec", input), two.log.join("\n")).toMatchObject({ ok: true });
    expect(host.places()).toBe(1);
    expect(await two.get("workspace.diff", { workspace_id: first.workspace_id })).toMatchObject({
      commits: [],
    });
  }, 120_000);
});
