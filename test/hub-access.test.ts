import { type AnyAction, type Caller, newHandle } from "@octant/core";
import { expect, test } from "vitest";
import { openHub } from "../packages/hub/testing/open-hub.ts";
import { modernRequest } from "../packages/mcp/testing/http.ts";

const SCOPES = ["admin", "admin:ro", "own", "own:ro", "foreign", "foreign:ro"] as const;
type Scope = (typeof SCOPES)[number];

/** The rule of the hub, written down a second time. */
function expectedRefusal({ access, target = "project", projectOf }: AnyAction, scope: Scope) {
  const granted = scope === "admin" ? 2 : scope.endsWith(":ro") ? 0 : 1;
  const needed = ["read", "write", "admin"].indexOf(access);
  if (granted < needed) return "PERMISSION_DENIED";
  if (scope.startsWith("admin")) return undefined;
  if (target === "global") return "PERMISSION_DENIED";
  return scope.startsWith("foreign") && projectOf ? "NOT_FOUND" : undefined;
}

test("every action of every tool refuses exactly the scopes that may not use it, over MCP HTTP", async () => {
  const { hub, get, createSource } = await openHub();
  const folder = createSource();
  const { project_id } = await get<{ project_id: string }>("project.create", { name: "own", folder });
  const { project_id: foreign } = await get<{ project_id: string }>("project.create", { name: "foreign" });
  const { workspace_id } = await get<{ workspace_id: string }>("workspace.create", {
    project_id,
    name: "work",
  });
  const session_id = newHandle("ses", Date.now());
  const at = new Date().toISOString();
  await hub.store.records("session").add({
    ...{ id: session_id, project_id, workspace_id, state: "idle", root_id: session_id, depth: 0, cost: 0 },
    ...{ caller_tools: [], pending: [], created_at: at, updated_at: at },
  });
  const ids: Record<string, unknown> = { project_id, workspace_id, session_id };
  const toScope = (scope: Scope) =>
    scope.replace("own", `project:${project_id}`).replace("foreign", `project:${foreign}`);
  const server = await hub.serve();
  const wrong: string[] = [];
  let cells = 0;
  for (const scope of SCOPES) {
    const { token } = await get<{ token: string }>("token.create", { name: scope, scope: toScope(scope) });
    for (const { name, actions } of hub.octant.registry.list()) {
      for (const [action, act] of Object.entries<AnyAction>(actions)) {
        const expected = expectedRefusal(act, scope);
        // A call that is allowed must not change what later cells need; a mistake in its input shows that it got through.
        const known = Object.keys(act.input.shape).filter((key) => ids[key] !== undefined);
        const input = Object.fromEntries(known.map((key) => [key, ids[key]]));
        if (expected === undefined && act.access !== "read") continue;
        const code = await callHttp(server.url, token, name, { action, ...complete(act, input) });
        cells += 1;
        const isRight =
          expected === undefined
            ? code !== "PERMISSION_DENIED" && !(code === "NOT_FOUND" && known.length > 0)
            : code === expected;
        if (!isRight) wrong.push(`${name}.${action} with ${scope}: ${code}, not ${expected ?? "allowed"}`);
      }
    }
  }
  await server.close();
  expect(wrong).toEqual([]);
  expect(cells).toBeGreaterThan(60);
});

/** The input of the first example, with the ids of this test. */
const complete = (act: AnyAction, input: Record<string, unknown>) => ({ ...act.examples[0].input, ...input });

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
