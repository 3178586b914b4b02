import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { openPage } from "./console-client.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { startOctant } from "./octant-process.ts";
import { CONTAINED_LAUNCHER } from "./published-command.ts";

test("the console of a hub shows the hub alone, and a project's token stays in its project", async () => {
  using project = createFixtureProject();
  const server = startOctant(["serve"], { cwd: project.root, env: project.env });
  server.stderr.resume();
  const child = startOctant(["hub", "--port", "0", "--json"], {
    cwd: project.root,
    env: project.env,
    launcher: CONTAINED_LAUNCHER,
  });
  child.stderr.resume();
  try {
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    const page = await openPage(JSON.parse(String(line)).console);
    expect(page.me).toMatchObject({ access: "admin", hub: true });
    const listed = await fetch(new URL("/console/api/processes", page.origin), {
      headers: { authorization: `Bearer ${JSON.parse(String(line)).token}` },
    });
    const { processes } = await listed.json();
    expect(processes).toMatchObject([{ command: "hub" }]);
    const made = await page.call("hub", "project", "create", { name: "demo" });
    const other = await page.call("hub", "project", "create", { name: "other" });
    expect(made.error ?? other.error).toBeNull();
    const { project_id } = Object(made.data);
    const created = await page.call("hub", "token", "create", {
      name: "bob",
      scope: `project:${project_id}`,
    });
    expect(created.error).toBeNull();

    const headers = {
      authorization: `Bearer ${Object(created.data).token}`,
      "content-type": "application/json",
    };
    const call = async (tool: string, action: string, input: object) => {
      const body = JSON.stringify({ process: "hub", tool, action, input });
      const answer = await fetch(new URL("/console/api/call", page.origin), {
        method: "POST",
        headers,
        body,
      });
      return (await answer.json()).envelope;
    };
    expect(await call("project", "get", { project_id })).toMatchObject({ ok: true });
    const foreign = await call("project", "get", { project_id: Object(other.data).project_id });
    expect(foreign).toMatchObject({ error: { code: "NOT_FOUND" } });
    expect(await call("console", "sessions", {})).toMatchObject({ error: { code: "PERMISSION_DENIED" } });
    expect(await call("token", "create", { name: "x", scope: "admin" })).toMatchObject({ ok: false });
  } finally {
    server.kill();
    child.kill("SIGTERM");
    await once(child, "exit");
  }
}, 60_000);
