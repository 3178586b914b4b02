import { type AnyAction, type Caller, newHandle, ToolError } from "@octant/core";
import { expect, test } from "vitest";
import type { Hub } from "../packages/hub/src/index.ts";
import type { HubRecord, RecordKind } from "../packages/hub/src/store/hub-store.ts";
import { openHub } from "../packages/hub/testing/open-hub.ts";
import { modernRequest } from "../packages/mcp/testing/http.ts";

const SCOPES = ["admin", "admin:ro", "project", "project:ro"] as const;
const PLACES = ["own", "foreign"] as const;
type Scope = (typeof SCOPES)[number];

const HUB_TOOLS = [
  ...["project", "container", "session", "workspace", "token", "schedule", "webhook"],
  ...[
    "project_options",
    "project_changes",
    "project_tasks",
    "image_rebuild",
    "caller_tool_response",
    "config_limits",
  ],
];

/**
 * The rule of the hub, written down a second time; undefined when the call is allowed. An action is about a project when
 * it takes an id of something there, whatever it declares.
 */
function expectedRefusal(
  { access, target = "project" }: AnyAction,
  scope: Scope,
  isForeign: boolean,
  takesIds: boolean,
) {
  const granted = scope === "admin" ? 2 : scope.endsWith(":ro") ? 0 : 1;
  if (granted < ["read", "write", "admin"].indexOf(access)) return "PERMISSION_DENIED";
  if (scope.startsWith("admin")) return undefined;
  if (target === "global") return "PERMISSION_DENIED";
  return isForeign && takesIds ? "NOT_FOUND" : undefined;
}

/** The same tools, whose actions only say that they were reached: the matrix is about access, and changes nothing. */
function disarm(hub: Hub): void {
  const run = () => {
    throw new ToolError("CONFLICT", "reached", { expected: "", actual: "" });
  };
  for (const tool of hub.octant.registry.list().filter(({ name }) => !["job", "event"].includes(name))) {
    const actions = Object.entries<AnyAction>(tool.actions).map(([name, act]) => [name, { ...act, run }]);
    hub.octant.removeTool(tool.name);
    hub.octant.addTool({ ...tool, actions: Object.fromEntries(actions) });
  }
}

test("every action × scope × own and foreign project is refused or allowed as declared, over MCP HTTP", async () => {
  const { hub, get, createSource } = await openHub();
  const folder = createSource();
  const at = new Date().toISOString();
  const create = async (name: string) => {
    const { project_id } = await get<{ project_id: string }>("project.create", { name, folder });
    const [workspace_id, session_id, schedule_id] = ["workspace", "ses", "schedule"].map((kind) =>
      newHandle(kind, Date.now()),
    );
    const add = (kind: RecordKind, id = "") =>
      hub.store.records<HubRecord & object>(kind).add({ id, project_id, created_at: at });
    await add("workspace", workspace_id);
    await add("session", session_id);
    await add("schedule", schedule_id);
    return { project_id, workspace_id, session_id, schedule_id };
  };
  const ids = { own: await create("own"), foreign: await create("foreign") };
  const tokens = new Map<Scope, string>();
  for (const scope of SCOPES) {
    const text = scope.replace("project", `project:${ids.own.project_id}`);
    tokens.set(scope, (await get<{ token: string }>("token.create", { name: scope, scope: text })).token);
  }
  disarm(hub);
  expect(hub.octant.registry.list().map(({ name }) => name)).toEqual(expect.arrayContaining(HUB_TOOLS));
  const server = await hub.serve();
  const wrong: string[] = [];
  let cells = 0;
  for (const { name, actions } of hub.octant.registry.list())
    for (const [action, act] of Object.entries<AnyAction>(actions))
      for (const scope of SCOPES)
        for (const place of PLACES) {
          if (act.builtin || name === "job" || name === "event") continue;
          const known = Object.entries(ids[place]).filter(([key]) => Object.hasOwn(act.input.shape, key));
          const args = { action, ...act.examples[0].input, ...Object.fromEntries(known) };
          const code = await callHttp(server.url, tokens.get(scope) ?? "", name, args);
          const isForeign = place === "foreign";
          const expected = expectedRefusal(act, scope, isForeign, known.length > 0) ?? "CONFLICT";
          cells += 1;
          if (code !== expected)
            wrong.push(`${name}.${action} with ${scope} on ${place}: ${code}, not ${expected}`);
        }
  await server.close();
  expect(wrong).toEqual([]);
  expect(cells).toBeGreaterThan(8 * 30);
});

test("an action that takes two ids refuses an id of another project beside its own", async () => {
  const { hub, get, call } = await openHub();
  const create = async (name: string) => {
    const { project_id } = await get<{ project_id: string }>("project.create", { name });
    const session_id = newHandle("ses", Date.now());
    const workspace_id = newHandle("workspace", Date.now());
    const at = { project_id, created_at: new Date().toISOString() };
    const about = { id: session_id, workspace_id, state: "idle", depth: 0, root_id: session_id, cost: 0 };
    const workspace = { ...at, id: workspace_id, name, branch: name };
    const session = { ...at, ...about, pending: [] };
    await hub.store.records<HubRecord & object>("workspace").add(workspace);
    await hub.store.records<HubRecord & object>("session").add(session);
    return { project_id, workspace_id, session_id };
  };
  const own = await create("own");
  const { project_id: _foreign, ...foreign } = await create("foreign");
  const caller: Caller = { id: "bob", access: "write", project: own.project_id };
  const tried: string[] = [];
  for (const { name, actions } of hub.octant.registry.list())
    for (const [action, act] of Object.entries<AnyAction>(actions)) {
      const others = Object.entries(foreign).filter(([key]) => Object.hasOwn(act.input.shape, key));
      if (!Object.hasOwn(act.input.shape, "project_id") || others.length === 0) continue;
      // A webhook belongs to the whole hub.
      if (act.access === "admin") continue;
      const input = { ...act.examples[0].input, project_id: own.project_id, ...Object.fromEntries(others) };
      const { ok, data, error } = await call(`${name}.${action}`, input, caller);
      // A list that another project's id narrows has nothing.
      tried.push(`${name}.${action}: ${ok ? JSON.stringify(data) : error?.code}`);
    }
  expect(tried.toSorted()).toEqual(
    [
      "config_limits.get: NOT_FOUND",
      "container.exec: NOT_FOUND",
      "project_changes.get: NOT_FOUND",
      "project_changes.list: NOT_FOUND",
      "project_tasks.list: NOT_FOUND",
      "session.message: NOT_FOUND",
      'session.list: {"sessions":[],"total":0}',
      "session.spawn: NOT_FOUND",
    ].toSorted(),
  );
});

async function callHttp(url: string, token: string, name: string, args: object): Promise<string> {
  const { body, headers } = modernRequest(1, "tools/call", { name, arguments: args });
  const response = await fetch(url, {
    method: "POST",
    headers: {
      ...headers,
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify(body),
  });
  const text = (await response.text()).replaceAll('\\"', '"');
  return /"code":\s*"([A-Z_]+)"/.exec(text)?.[1] ?? (response.ok ? "OK" : `${response.status} ${text}`);
}

test("an unknown action is refused with the sentence of the seed", async () => {
  const { call } = await openHub();
  expect((await call("project.foo")).error?.message).toMatch(
    /^unknown action 'foo' for project tool; valid actions: create, list, get/,
  );
});

test("a caller limited to a project sees only that project in lists", async () => {
  const { get } = await openHub();
  const { project_id } = await get<{ project_id: string }>("project.create", { name: "mine" });
  await get("project.create", { name: "other" });
  const caller: Caller = { id: "p", access: "read", project: project_id };
  expect(await get("project.list", {}, caller)).toMatchObject({ projects: [{ name: "mine" }] });
});

test("every action of the hub that takes a limit can be read on, and pages neither repeat nor drop", async () => {
  const { hub, get, call } = await openHub();
  const missing = hub.octant.registry.list().flatMap(({ name, actions }) =>
    Object.entries<AnyAction>(actions)
      .filter(([, { input }]) => Object.hasOwn(input.shape, "limit") && !Object.hasOwn(input.shape, "cursor"))
      .map(([action]) => `${name}.${action}`),
  );
  // It is read on by sequence numbers.
  expect(missing).toEqual(["event.poll"]);
  for (const name of ["one", "two", "three", "four"]) await get("project.create", { name });
  const page = async (cursor?: string | null) => {
    const { data, meta } = await call("project.list", { limit: 2, ...(cursor && { cursor }) });
    // The test knows what the action answers.
    const { projects } = data as { projects: { project_id: string; name: string }[] };
    return { projects, cursor: meta.paging.cursor };
  };
  const first = await page();
  expect(first.projects.map(({ name }) => name)).toEqual(["four", "three"]);
  await get("project.delete", { project_id: first.projects[1]?.project_id });
  await get("project.create", { name: "five" });
  const second = await page(first.cursor);
  expect(second.projects.map(({ name }) => name)).toEqual(["two", "one"]);
  expect(second.cursor).toBeNull();
  const stale = await call("project.list", { limit: 2, cursor: `${first.cursor}x` });
  expect(stale.error?.code).toBe("INVALID_CURSOR");
});
