import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import type { Project } from "../packages/hub/src/projects/project.ts";
import { openHub } from "../packages/hub/testing/open-hub.ts";
import { startPostgres } from "../packages/hub/testing/postgres-cluster.ts";

interface View {
  readonly session_id: string;
  readonly workspace_id: string;
  readonly state: string;
}
interface Page {
  readonly events: readonly {
    readonly seq: number;
    readonly type: string;
    readonly name?: string;
    readonly data?: Record<string, string>;
  }[];
}

const WAIT = { timeout: 60_000, interval: 50 };
const say = (text: string) => ({ parts: [{ text }] });
const use = (tool: string, input: object) => ({ parts: [{ call: tool, input }] });
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "octant-hub-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

describe.skipIf(inject("missing").includes("postgresql"))("hubs on one database", () => {
  let postgres: ReturnType<typeof startPostgres>;
  beforeAll(() => {
    postgres = startPostgres();
  });
  afterAll(() => postgres[Symbol.dispose]());

  const openWorld = async (script: Script) => {
    const provider = await createScriptedProvider(script);
    onTestFinished(() => provider.close());
    const env = {
      ANTHROPIC_API_KEY: "sk-test-0123456789abcdef",
      ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
    };
    const database = postgres.createDatabase();
    const open = (folder: string, lifeMs?: number) =>
      openHub({ env, database, folder, ...(lifeMs !== undefined && { lifeMs }) });
    return { open };
  };
  type Opened = Awaited<ReturnType<typeof openHub>>;
  const createProject = async ({ get }: Opened, name = "demo") =>
    (await get<{ project_id: string }>("project.create", { name, model: "some-model" })).project_id;
  const settled = ({ get }: Opened, session_id: string) =>
    vi.waitFor(
      async () => expect(await get("session.get", { session_id })).toMatchObject({ state: "idle" }),
      WAIT,
    );

  test("any hub serves a project: messages, answers, files and the end reach the hub that has it", async () => {
    let city = 0;
    const { open } = await openWorld(({ answers }) => {
      if (answers === 0) return use("caller", { action: "lookup", city: "Bern" });
      city += 1;
      return say(`Answer ${city}.`);
    });
    const folder = newFolder();
    const [a, b] = [await open(folder), await open(folder)];
    const project_id = await createProject(a);
    const schema = { type: "object", properties: { city: { type: "string" } } };
    const { session_id, workspace_id } = await b.get<View>("session.spawn", {
      ...{ project_id, message: "How warm is it?" },
      caller_tools: [{ name: "lookup", description: "The weather.", input_schema: schema }],
    });
    // Read by the hub that does not write them, live.
    const request = await vi.waitFor(async () => {
      const { events } = await b.get<Page>("session.events", { session_id, wait: 5_000 });
      const found = events.find(({ name }) => name === "caller_tool_request");
      expect(found).toBeDefined();
      return found?.data?.["request_id"];
    }, WAIT);
    const answer = { session_id, request_id: request, result: { celsius: 21 } };
    await b.get("session.message", { session_id, message: "And in Rome?" });
    expect(await b.get("session.get", { session_id })).toMatchObject({ state: "working" });
    expect(await b.get("caller_tool_response.respond", answer)).toEqual({ accepted: true });
    expect((await b.call("caller_tool_response.respond", answer)).error?.code).toBe("NOT_FOUND");
    await settled(b, session_id);
    const { events } = await b.get<Page>("session.events", { session_id, max_events: 1_000 });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, n) => n + 1));
    expect(events.filter(({ type }) => type === "user")).toHaveLength(2);
    expect(JSON.stringify(events)).toContain("celsius");
    // The hub that has the project runs commands in its container; the other one sees what they did.
    expect(
      await b.get("container.exec", {
        project_id,
        workspace_id,
        command: ["sh", "-c", "echo made > made.txt"],
      }),
    ).toMatchObject({ exit_code: 0 });
    expect(
      await a.get("container.exec", { project_id, workspace_id, command: ["cat", "made.txt"] }),
    ).toMatchObject({
      stdout: "made\n",
    });
    expect(await b.get("session.end", { session_id })).toMatchObject({ state: "ended" });
    expect((await a.call("session.message", { session_id, message: "More" })).error?.code).toBe("LOCKED");
    expect(await b.get("project.delete", { project_id, force: true })).toEqual({ deleted: true });
    expect((await a.call("project.get", { project_id })).error?.code).toBe("NOT_FOUND");
  });

  test("what one hub wrote, every hub reads at once", async () => {
    const { open } = await openWorld(() => say("Done."));
    const [a, b] = [await open(newFolder()), await open(newFolder())];
    const server = await b.hub.serve();
    onTestFinished(() => server.close());
    for (let n = 0; n < 20; n += 1) {
      const [one, other] = n % 2 === 0 ? [a, b] : [b, a];
      const { project_id } = await one.get<{ project_id: string }>("project.create", { name: `p${n}` });
      await other.get("project.update", { project_id, description: `by the other ${n}` });
      expect(await one.get("project.get", { project_id })).toMatchObject({
        description: `by the other ${n}`,
      });
      const { token, token_id } = await a.get<{ token: string; token_id: string }>("token.create", {
        ...{ name: `t${n}`, scope: `project:${project_id}` },
      });
      const headers = { authorization: `Bearer ${token}` };
      expect((await fetch(new URL("/metrics", server.url), { headers })).status).toBe(403);
      await b.get("token.revoke", { token_id });
    }
    // Each has its own folder; the other one passes the call on.
    const { project_id } = await a.get<{ project_id: string }>("project.create", { name: "files" });
    const { workspace_id } = await b.get<View>("workspace.create", { project_id });
    writeFileSync(join(a.hub.workspaces.folderOf(project_id), workspace_id, "new.txt"), "new\n");
    expect(
      await b.get("container.exec", { project_id, workspace_id, command: ["cat", "new.txt"] }),
    ).toMatchObject({ stdout: "new\n" });
    await a.hub[Symbol.asyncDispose]();
    expect((await b.call("workspace.diff", { workspace_id })).error).toMatchObject({
      code: "UPSTREAM_ERROR",
      message: expect.stringContaining("no running hub has the folder"),
    });
  });

  test("a hub that does not report loses its projects, and stores nothing more of them", async () => {
    const { open } = await openWorld(({ answers }) =>
      answers < 3 ? use("proc", { action: "exec", command: "sleep 0.2; echo x >> log.txt" }) : say("Done."),
    );
    const folder = newFolder();
    const a = await open(folder, 1_000);
    const project_id = await createProject(a);
    const { session_id } = await a.get<View>("session.spawn", { project_id, message: "Go." });
    await vi.waitFor(
      async () =>
        expect((await a.get<Page>("session.events", { session_id })).events.length).toBeGreaterThan(3),
      WAIT,
    );
    const b = await open(folder, 1_000);
    // As a hub that is stuck: its process lives, and none of its reports outlasts the next look at it.
    await vi.waitFor(async () => {
      await b.hub.store.peers?.bury(a.hub.store.peers?.hub_id ?? "");
      expect(await b.hub.store.peers?.owned()).toEqual([project_id]);
    }, WAIT);
    await settled(b, session_id);
    const { events } = await a.get<Page>("session.events", { session_id, max_events: 1_000 });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, n) => n + 1));
    expect(events.filter(({ type }) => type === "end")).toHaveLength(1);
    expect(a.log.join("\n")).toContain("another hub has taken over");
  });

  test("the hub that takes over a half-made or half-deleted project removes it, and no other one", async () => {
    const { open } = await openWorld([]);
    const folder = newFolder();
    const [a, b] = [await open(folder), await open(folder)];
    const [made, deleted, whole] = [
      await createProject(a, "made"),
      await createProject(a, "deleted"),
      await createProject(a, "whole"),
    ];
    await a.get("workspace.create", { project_id: deleted });
    const records = a.hub.store.records<Project>("project");
    await records.change(made, (one) => ({ ...one, partial: "new" }));
    await records.change(deleted, (one) => ({ ...one, partial: "deleted" }));
    await records.change(whole, (one) => ({ ...one, partial: "closing" }));
    await a.hub[Symbol.asyncDispose]();
    const ids = async () => (await b.hub.store.records<Project>("project").list()).map(({ id }) => id);
    await vi.waitFor(async () => expect(await ids()).toEqual([whole]), WAIT);
    await b.get("workspace.create", { project_id: whole });
    expect(readdirSync(join(folder, "hub", "projects"))).toEqual([whole]);
    expect(await b.hub.store.records("workspace").list()).toHaveLength(1);
    expect(b.log.join("\n")).not.toContain("cannot continue");
  });

  test("a folder is shared only by hubs of one database", async () => {
    const { open } = await openWorld(() => say("Done."));
    const folder = newFolder();
    await open(folder);
    const other = postgres.createDatabase();
    const refused = (message: string) => ({ code: "LOCKED", message: expect.stringContaining(message) });
    await expect(openHub({ folder, database: other })).rejects.toMatchObject(refused("another database"));
    await expect(openHub({ folder })).rejects.toMatchObject(refused("give --database"));
    const alone = newFolder();
    await openHub({ folder: alone });
    await expect(open(alone)).rejects.toMatchObject(refused("another hub runs"));
  });
});
