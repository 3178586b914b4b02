import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { describe, expect, onTestFinished, test } from "vitest";
import { chooseEngine } from "../packages/hub/src/index.ts";
import { openHost } from "../packages/hub/testing/open-host.ts";
import { git, openHub } from "../packages/hub/testing/open-hub.ts";
import { startPostgres } from "../packages/hub/testing/postgres-cluster.ts";
import { createLossyNetwork } from "../packages/wire/testing/lossy-network.ts";
import { startNatsServer } from "../packages/wire/testing/nats-server.ts";
import type { HostedEvent, HostedSession } from "./hosted-hub.ts";
import { mayMount, mountSmallDisk } from "./small-disk.ts";
import { modelOf } from "./start-hub.ts";
import { lacks } from "./ui/lacks.ts";

const WAIT = { timeout: 90_000, interval: 100 };
const run = (command: string) => ({ parts: [{ call: "proc", input: { action: "exec", command } }] });

/** A hub and a host of this process, and a session at work in them. */
async function openWorld(script: Script, more: Parameters<typeof openHub>[0] = {}) {
  const server = await startNatsServer();
  const { port } = new URL(server.url);
  const network = await createLossyNetwork({ host: "127.0.0.1", port: Number(port) });
  const provider = await createScriptedProvider(script);
  onTestFinished(async () => {
    await provider.close();
    await network.close();
    await server.stop();
  });
  const nats = { url: server.url };
  const ofHub = { url: server.url.replace(port, String(network.port)) };
  const opened = await openHub({ ...more, nats: ofHub, env: modelOf(provider) });
  const { host, log: said } = await openHost({ nats });
  const source = opened.createSource();
  // As packages that are installed: git ignores them, and each host installs them by itself.
  writeFileSync(join(source, ".devcontainer.json"), '{ "postCreateCommand": "echo yes > installed.txt" }');
  writeFileSync(join(source, ".gitignore"), "installed.txt\n");
  git(source, "add", "-A");
  git(source, "commit", "-qm", "Packages");
  const { project_id } = await opened.get<{ project_id: string }>("project.create", {
    ...{ name: "demo", folder: source, model: "some-model" },
  });
  const { session_id } = await opened.get<HostedSession>("session.spawn", { project_id, message: "Go." });
  const events = async () =>
    (await opened.get<{ events: HostedEvent[] }>("session.events", { session_id, max_events: 500 })).events;
  return {
    ...opened,
    ...{ server, network, nats, host, said, session_id, project_id, events },
    session: () => opened.get<HostedSession>("session.get", { session_id }),
    began: async () => (await events()).filter(({ type }) => type === "tool_began").length,
  };
}

describe.skipIf(lacks("nats-server", "bubblewrap"))("a session on a host", () => {
  test("goes on when the NATS server is back after the leases have ended, and the model is told", async () => {
    let isTold = false;
    const { server, session, events, began, said } = await openWorld(({ results }) => {
      const text = results[0]?.text ?? "";
      isTold ||= text.includes("INTERRUPTED");
      if (text === "") return run("echo kept > kept.txt");
      if (text.includes("installed:yes")) return { parts: [{ text: "Done." }] };
      if (isTold) return run("echo installed:$(cat installed.txt)");
      return run("sleep 600");
    });
    await expect.poll(began, WAIT).toBe(2);
    await server.kill();
    // The host cannot renew its lease, so it ends the session's commands.
    await expect.poll(() => said.join("\n"), WAIT).toContain("its containers are stopped");
    expect(await session()).toMatchObject({ state: "working" });
    await server.restart();
    await expect.poll(session, WAIT).toMatchObject({ state: "idle", outcome: "done" });
    const all = await events();
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, at) => at + 1));
    expect(all.filter(({ name }) => name === "host_lost")).toHaveLength(1);
    expect(isTold).toBe(true);
  }, 180_000);

  test("keeps its files when its place comes back to a host that still removes what was there before", async () => {
    const server = await startNatsServer();
    const folder = mkdtempSync(join(tmpdir(), "octant-host-"));
    onTestFinished(async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    const local = await chooseEngine({ engine: "local", env: process.env, folder, log() {} });
    const removed = Promise.withResolvers<void>();
    let removals = 0;
    const engine = {
      ...local,
      async remove(id: string) {
        removals += 1;
        if (removals === 1) await removed.promise;
        await local.remove(id);
      },
    };
    const nats = { url: server.url };
    const { call, get } = await openHub({ nats });
    const { log } = await openHost({ nats, engine });
    const { project_id } = await get<{ project_id: string }>("project.create", { name: "demo" });
    const { workspace_id } = await get<{ workspace_id: string }>("workspace.create", { project_id });
    const sh = (command: string) =>
      call("container.exec", { project_id, workspace_id, command: ["sh", "-c", command] });
    expect(await sh("echo first > a.txt")).toMatchObject({ ok: true });
    await server.kill();
    await expect.poll(() => log.join("\n"), WAIT).toContain("its containers are stopped");
    await expect.poll(() => removals, WAIT).toBe(1);
    await server.restart();
    await expect
      .poll(() => sh("echo second > b.txt"), WAIT)
      .toMatchObject({ ok: true, data: { exit_code: 0 } });
    removed.resolve();
    await expect.poll(() => log.join("\n"), WAIT).toContain("has been removed");
    expect(await sh("cat b.txt")).toMatchObject({ ok: true, data: { stdout: "second\n" } });
  }, 180_000);

  test("resumes in the same place when only its hub was cut off, and tells the model that commands ended", async () => {
    let isTold = false;
    const { network, session, events, began, said, log } = await openWorld(({ results }) => {
      const text = results[0]?.text ?? "";
      isTold ||= text.includes("INTERRUPTED");
      if (text === "") return run("echo one > tracked.txt; echo kept > installed.txt");
      if (text.includes("has:kept")) return { parts: [{ text: "Done." }] };
      return isTold ? run("echo has:$(cat installed.txt)") : run("echo x >> runs.txt; sleep 600");
    });
    await expect.poll(began, WAIT).toBe(2);
    // The host reaches the server all the time, so it keeps the lease.
    network.silence();
    await expect.poll(session, WAIT).toMatchObject({ state: "idle", outcome: "done" });
    const all = await events();
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, at) => at + 1));
    expect(
      all.filter(({ name }) => name === "host_lost"),
      log.join("\n"),
    ).toMatchObject([{ data: { message: expect.stringContaining("files are as they were") } }]);
    expect(said.join("\n")).not.toContain("its containers are stopped");
  }, 180_000);

  test.skipIf(lacks("postgresql"))(
    "goes on when PostgreSQL crashes and starts again",
    async () => {
      const postgres = startPostgres();
      onTestFinished(() => postgres[Symbol.dispose]());
      const lines = 4;
      const { session, events, began } = await openWorld(
        ({ answers }) =>
          answers < lines ? run(`sleep 0.3; echo ${answers} >> log.txt`) : { parts: [{ text: "Done." }] },
        { database: postgres.createDatabase() },
      );
      for (let crash = 1; crash <= 2; crash += 1) {
        await expect.poll(began, WAIT).toBeGreaterThanOrEqual(crash);
        postgres.stop();
        postgres.start();
      }
      await expect.poll(session, WAIT).toMatchObject({ state: "idle", outcome: "done" });
      const all = await events();
      expect(all.map(({ seq }) => seq)).toEqual(all.map((_, at) => at + 1));
      expect(all.filter(({ type }) => type === "tool_began")).toHaveLength(lines);
      expect(all.filter(({ type }) => type === "end")).toHaveLength(1);
    },
    180_000,
  );

  test.skipIf(!mayMount)(
    "leaves a host whose disk is full before it has the files",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "octant-host-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      const small = join(folder, "small");
      using disk = mountSmallDisk(small, 100 * 1024 * 1024);
      const server = await startNatsServer();
      onTestFinished(() => server.stop());
      const nats = { url: server.url };
      const { call, get } = await openHub({ nats });
      const engine = await chooseEngine({ engine: "local", env: process.env, folder: small, log() {} });
      onTestFinished(() => engine.close());
      let taken = 0;
      const { host: full } = await openHost({
        ...{ nats, folder: small },
        engine: {
          ...engine,
          status() {
            // Asked for when the hub has got the place.
            taken += 1;
            disk.fill();
            return engine.status();
          },
        },
      });
      const { project_id } = await get<{ project_id: string }>("project.create", { name: "demo" });
      const answer = call("container.exec", { project_id, command: "echo here" });
      await expect.poll(() => taken, WAIT).toBeGreaterThan(0);
      const { host: other } = await openHost({ nats });
      expect(await answer).toMatchObject({ ok: true, data: { stdout: "here\n" } });
      expect([full.places(), other.places()]).toEqual([0, 1]);
    },
    120_000,
  );

  test.skipIf(!mayMount)(
    "does not come to a host whose disk is full",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "octant-host-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      using _disk = mountSmallDisk(join(folder, "small"));
      const server = await startNatsServer();
      onTestFinished(() => server.stop());
      const nats = { url: server.url };
      const { call, get } = await openHub({ nats });
      const { host: full, log } = await openHost({ nats, folder: join(folder, "small") });
      const { project_id } = await get<{ project_id: string }>("project.create", { name: "demo" });
      const answer = call("container.exec", { project_id, command: "echo here" });
      await expect.poll(() => log, WAIT).toContain("host: the disk is full; nothing new is taken");
      const { host: other } = await openHost({ nats });
      expect(await answer).toMatchObject({ ok: true, data: { stdout: "here\n" } });
      expect([full.places(), other.places()]).toEqual([0, 1]);
    },
    120_000,
  );
});
