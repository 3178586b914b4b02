import { once } from "node:events";
import { cpSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { toInstall } from "@octant/hub";
import { afterAll, describe, expect, test } from "vitest";
import type { Project } from "../packages/hub/src/projects/project.ts";
import { ENGINE_NAMES, openEngine, type TestEngine } from "../packages/hub/testing/engines.ts";
import { openHub } from "../packages/hub/testing/open-hub.ts";
import { CONTAINED_LAUNCHER } from "./published-command.ts";

interface Executed {
  readonly exit_code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdout_ref?: string;
  readonly limits_hit: readonly { readonly limit: string; readonly message: string }[];
}

interface Stats {
  readonly memory_bytes?: number;
  readonly not_counted?: string;
}

for (const name of ENGINE_NAMES) {
  const opened = await openEngine(name);
  if (typeof opened === "string") test.skip(`the container tool with ${name} (not here: ${opened})`);
  else describe(`the container tool with ${name}`, () => describeContainerTool(opened));
}

function describeContainerTool(opened: TestEngine): void {
  afterAll(() => opened[Symbol.asyncDispose]());

  const openProject = async (limits: object = {}) => {
    const hub = await openHub({ engine: opened.engine });
    const { project_id } = await hub.get<{ project_id: string }>("project.create", {
      name: "demo",
      folder: hub.createSource(),
      limits,
    });
    const exec = (command: string | readonly string[], more: object = {}) =>
      hub.get<Executed>("container.exec", { project_id, command, ...more });
    return { ...hub, project_id, exec };
  };

  test("commands run in it, as a list or a text, and it is stopped, refreshed and logged", async () => {
    const { get, call, exec, project_id } = await openProject();
    expect(await get("container.stats", { project_id })).toMatchObject({ state: "none" });
    expect(await exec(["printf", "%s|", "a b", "$HOME"])).toMatchObject({
      exit_code: 0,
      stdout: "a b|$HOME|",
    });
    expect(await exec("echo out; echo err >&2; exit 4")).toEqual({
      exit_code: 4,
      stdout: "out\n",
      stderr: "err\n",
      limits_hit: [],
    });
    const { workspace_id } = await get<{ workspace_id: string }>("workspace.create", { project_id });
    expect(await exec("cat a.txt", { workspace_id })).toMatchObject({ stdout: "one\n" });
    const long = await exec(["seq", "100000"]);
    expect(long.stdout.length).toBeLessThan(40_000);
    const whole = await get<{ text: string; total_bytes: number; next_offset: number }>("container.logs", {
      project_id,
      ref: long.stdout_ref,
    });
    expect(whole).toMatchObject({ total_bytes: 588_895, next_offset: 32_768 });
    const { memory_bytes, not_counted, ...stats } = await get<Stats>("container.stats", { project_id });
    expect(stats).toMatchObject({ state: "running", limits: {} });
    if (memory_bytes === undefined) expect(not_counted).toContain("systemd-run");
    else expect(memory_bytes).toBeGreaterThan(0);
    const late = await call("container.exec", { project_id, command: "sleep 300", timeout_ms: 500 });
    expect(late.error).toMatchObject({ code: "TIMEOUT" });
    expect(await get("container.refresh", { project_id })).toMatchObject({ state: "running" });
    expect(await get("container.stop", { project_id })).toMatchObject({ state: "stopped" });
    const { text } = await get<{ text: string }>("container.logs", { project_id });
    expect(text.split("\n").map((line) => line.replace(/^\S+ /, ""))).toEqual([
      ...["creating the container", "started", "stopped", "removed"],
      ...["creating the container", "started", "stopped"],
    ]);
    const { text: last } = await get<{ text: string }>("container.logs", { project_id, tail: 1 });
    expect(last).toMatch(/stopped$/);
    const since = new Date(Date.now() + 1_000).toISOString();
    expect(await get("container.logs", { project_id, since })).toEqual({ text: "" });
  });

  test("a hub that was restored beside the old one has a container of its own", async () => {
    const old = await openProject();
    await old.exec("true");
    const restored = await openHub({ engine: opened.engine });
    const project = await old.hub.store.records<Project>("project").get(old.project_id);
    if (!project) throw new Error("the project is gone");
    await restored.hub.store.records<Project>("project").add(project);
    const [from = "", to = ""] = [old, restored].map(({ folder }) =>
      join(folder, "hub/projects", project.id),
    );
    cpSync(from, to, { recursive: true });
    const { project_id } = old;
    expect(await restored.get("container.start", { project_id })).toMatchObject({ state: "running" });
    expect(await old.get("container.stats", { project_id })).toMatchObject({ state: "running" });
  });

  test("an answer names the limit that was hit: memory, processes, disk", async () => {
    const { exec, get, project_id } = await openProject({ memory_mb: 96, pids: 40, disk_mb: 20, cpus: 1 });
    const limitsOf = ({ limits_hit }: Executed) => limits_hit.map(({ limit }) => limit);
    const memory = await exec("head -c 300000000 /dev/zero | tail | wc -c");
    expect(memory.limits_hit).toEqual([
      { limit: "memory_mb", message: "out of memory: the container may use 96 MB, and a process was killed" },
    ]);
    expect(limitsOf(await exec("for i in $(seq 60); do sleep 2 & done; wait"))).toEqual(["pids"]);
    await get("container.stop", { project_id });
    // The whole folder is counted: each file alone is small enough.
    const full = await exec("for i in 1 2 3; do head -c 9000000 /dev/zero > /workspaces/$i; done; sleep 300");
    expect(full.exit_code).not.toBe(0);
    expect(limitsOf(full)).toEqual(["disk_mb"]);
    expect(full.limits_hit[0]?.message).toMatch(/^disk full: the project uses 2\d MB of its 20 MB/);
    const freed = { exit_code: 0, stdout: "", limits_hit: [] };
    expect(await exec("rm /workspaces/*; ls /workspaces")).toMatchObject(freed);
    // Root's engines limit single files.
    const large = await exec("head -c 30000000 /dev/zero > /workspaces/large");
    expect(large.exit_code).toBe(153);
    expect(large.limits_hit.map(({ message }) => message)).toContain(
      "file too large: a file may have 20 MB, and a command that wrote more was killed",
    );
    expect(await get("project.options")).toMatchObject({
      engine: { enforces: expect.arrayContaining(["memory_mb", "pids", "cpus", "disk_mb", "network:allow"]) },
    });
  });

  test("the network is closed, or open for the hosts of a list through the hub's proxy", async () => {
    const server = createServer((_, response) => response.end("from the host\n")).listen(0, "127.0.0.1");
    await once(server, "listening");
    // A listening server has one.
    const { port } = server.address() as AddressInfo;
    const { exec, get, project_id } = await openProject();
    const { node } = toInstall(CONTAINED_LAUNCHER);
    const fetched = (host: string) =>
      exec([node, "-e", `fetch("http://${host}/").then(async (r) => console.log(r.status, await r.text()))`]);
    try {
      expect((await fetched(`localhost:${port}`)).stderr).toContain("fetch failed");
      const limits = { network: "allow", allow_hosts: [`localhost:${port}`] };
      await get("project.update", { project_id, limits });
      await get("container.refresh", { project_id });
      expect((await fetched(`localhost:${port}`)).stdout).toBe("200 from the host\n\n");
      for (const host of [`127.0.0.1:${port}`, "169.254.169.254", "example.com"])
        expect((await fetched(host)).stderr).toContain("Proxy response (403)");
      // After a restart of the container the way is still there.
      await get("container.stop", { project_id });
      expect((await fetched(`localhost:${port}`)).stdout).toContain("200");
      // The proxy follows the settings at once, and a container of earlier settings goes on.
      await get("project.update", { project_id, limits: { allow_hosts: ["example.com"] } });
      expect((await fetched(`localhost:${port}`)).stderr).toContain("Proxy response (403)");
      await get("project.update", { project_id, limits: { allow_hosts: limits.allow_hosts } });
      expect((await fetched(`localhost:${port}`)).stdout).toContain("200");
      await get("project.update", { project_id, limits: { network: "none" } });
      expect((await fetched(`localhost:${port}`)).stderr).toContain("fetch failed");
      expect(await exec(["echo", "works"])).toMatchObject({ exit_code: 0, stdout: "works\n" });
      await get("container.stop", { project_id });
      expect(await exec(["echo", "works"])).toMatchObject({ exit_code: 0, stdout: "works\n" });
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
}
