import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createOctant, type OctantOptions } from "@octant/app";
import { readAudit } from "@octant/runtime";
import { expect, onTestFinished, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";

interface Approval {
  readonly approval_id: string;
  readonly choices: readonly string[];
}

type OutputDebounce =
  | { readonly type: "asked"; readonly approval: Approval }
  | { readonly type: "settled"; readonly approval_id: string };

interface Told {
  readonly ok: boolean;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** A server that asks, an agent whose client cannot show a form, and a person with an admin token. */
async function serve(options: OctantOptions = {}) {
  const project = createFixtureProject();
  onTestFinished(() => project[Symbol.dispose]());
  const { root, env } = project;
  const octant = createOctant({ projectPath: root, env, permissions: "enforce", ...options });
  onTestFinished(() => octant.close());
  const server = await octant.serveHttp();
  onTestFinished(() => server.close());
  const tokens = octant.tokens();
  const agent = tokens.create({ scopes: [`project:${octant.workspace.state.id}`] });
  const readers = (["admin:ro", `project:${octant.workspace.state.id}:ro`] as const).map((scope) =>
    tokens.create({ scopes: [scope] }),
  );
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  const send = (uri: string, signal?: AbortSignal, meta: object = {}) =>
    fetch(server.url, {
      method: "POST",
      headers: {
        ...bearer(agent.token),
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "fs",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: {
          name: "fs",
          arguments: { action: "write", uri, content: "new\n" },
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            ...meta,
          },
        },
      }),
      ...(signal && { signal }),
    });
  const write = async (uri: string): Promise<Told> =>
    // Octant's envelope.
    ((await (await send(uri)).json()) as { result: { structuredContent: Told } }).result.structuredContent;
  const at = (path: string, token: string, init: RequestInit = {}) =>
    fetch(new URL(`/approvals${path}`, server.url), {
      ...init,
      headers: { "content-type": "application/json", ...bearer(token), ...init.headers },
    });
  return { root, octant, server, tokens, agent, readers, send, write, at };
}

/** The same, with a person who sees each question as it is asked. */
async function serveWatched(options: OctantOptions = {}) {
  const served = await serve(options);
  const admin = served.tokens.create({ scopes: ["admin"] });
  const followed = await served.at("?follow", admin.token);
  const news = eventsOf(followed);
  const next = async () => (await news.next()).value as OutputDebounce;
  const asked = async () => {
    const event = await next();
    if (event.type !== "asked") throw new Error(`nothing was asked: ${JSON.stringify(event)}`);
    return event.approval;
  };
  const list = async () =>
    ((await (await served.at("", admin.token)).json()) as { approvals: Approval[] }).approvals;
  const answer = (id: string, given: unknown, token = admin.token) =>
    served.at(`/${id}`, token, { method: "POST", body: JSON.stringify(given) });
  return { ...served, admin, next, asked, list, answer };
}

async function* eventsOf({ body }: Response): AsyncGenerator<unknown> {
  let text = "";
  for await (const chunk of body ?? []) {
    text += Buffer.from(chunk).toString();
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const [, data] = /^data: (.*)$/m.exec(event) ?? [];
      if (data) yield JSON.parse(data);
    }
  }
}

test("a call whose client cannot ask waits, is listed for a person, and runs when approved", async () => {
  const { root, agent, admin, write, asked, list, answer, next, octant } = await serveWatched();
  const written = write("a.txt");
  const approval = await asked();
  expect(await list()).toEqual([approval]);
  expect(approval).toEqual({
    approval_id: expect.stringMatching(/^question_/),
    kind: "permission",
    action: "fs.write",
    caller: agent.id,
    text: expect.stringMatching(/^fs\.write: .*\n {2}uri: a\.txt\n {2}content: new/),
    choices: ["once", "session", "always", "deny"],
    always: {
      tool_pattern: "fs.write",
      mode: "allow",
      args: { path: ["a.txt"] },
      expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
    },
    asked_at: expect.any(String),
    expires_at: expect.any(String),
  });
  expect(existsSync(join(root, "a.txt"))).toBe(false);
  const answered = await answer(approval.approval_id, { answer: "once" });
  expect([answered.status, await answered.json()]).toEqual([
    200,
    { approval_id: approval.approval_id, answer: "once" },
  ]);
  expect(await written).toMatchObject({ ok: true });
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("new\n");
  expect(await next()).toEqual({ type: "settled", approval_id: approval.approval_id });
  expect((await answer(approval.approval_id, { answer: "once" })).status).toBe(404);

  await octant.close();
  const records = await readAudit(octant.workspace.state.folder("audit"));
  expect(records).toContainEqual(
    expect.objectContaining({
      kind: "call",
      action: "fs.write",
      decisions: [
        expect.objectContaining({
          outcome: "allow",
          tier: "session",
          reason: `the person answered: once (token ${admin.id})`,
        }),
      ],
    }),
  );
});

test("a denied call does nothing, and its caller gets the reason", async () => {
  const { root, write, asked, answer } = await serveWatched();
  const written = write("a.txt");
  await answer((await asked()).approval_id, { answer: "deny", reason: "not now" });
  expect(await written).toMatchObject({
    error: { code: "PERMISSION_DENIED", details: { reason: "the person said no: not now" } },
  });
  expect(existsSync(join(root, "a.txt"))).toBe(false);
});

test("'always' is stored as a narrow rule of the local tier, and 'session' ends with the server", async () => {
  const { root, write, asked, answer, next } = await serveWatched();
  for (const name of ["one", "two"]) mkdirSync(join(root, name));
  for (const [folder, choice] of [
    ["one", "session"],
    ["two", "always"],
  ]) {
    const written = write(`${folder}/a.txt`);
    await answer((await asked()).approval_id, { answer: choice });
    expect(await written).toMatchObject({ ok: true });
    await next();
    expect(await write(`${folder}/b.txt`), "no second question").toMatchObject({ ok: true });
  }
  const local = JSON.parse(readFileSync(join(root, ".hanzo/settings.local.json"), "utf8"));
  const rule = { tool_pattern: "fs.write", mode: "allow", args: { path: ["two/*"] } };
  expect(local.permissions).toEqual([{ ...rule, expires_at: expect.any(String) }]);
});

test("an unanswered question times out with what to do next", async () => {
  const { root, write, asked, list, next } = await serveWatched({ approvalTimeoutMs: 20 });
  const written = write("a.txt");
  const { approval_id } = await asked();
  expect(await written).toMatchObject({
    error: {
      code: "APPROVAL_REQUIRED",
      message: expect.stringMatching(/no answer within 0\.02 s; call again.*"tool_pattern":"fs\.write"/),
    },
  });
  expect(await next()).toEqual({ type: "settled", approval_id });
  expect(await list()).toEqual([]);
  expect(existsSync(join(root, "a.txt"))).toBe(false);
});

test("a question disappears with its cancelled call", async () => {
  const { root, send, asked, list, answer, next } = await serveWatched();
  const cancel = new AbortController();
  const sent = send("a.txt", cancel.signal).catch(() => "gone");
  const { approval_id } = await asked();
  cancel.abort();
  expect(await sent).toBe("gone");
  expect(await next()).toEqual({ type: "settled", approval_id });
  expect(await list()).toEqual([]);
  expect((await answer(approval_id, { answer: "once" })).status).toBe(404);
  expect(existsSync(join(root, "a.txt"))).toBe(false);
});

test("a waiting caller gets progress, and a closing server leaves no one waiting", async () => {
  const { send, asked, server } = await serveWatched();
  const events = eventsOf(await send("a.txt", undefined, { progressToken: "p" }));
  const { approval_id } = await asked();
  expect((await events.next()).value).toMatchObject({
    method: "notifications/progress",
    params: { progressToken: "p", message: expect.stringMatching(/^waits for an approval until \d{4}-/) },
  });
  expect(approval_id).toMatch(/^question_/);
  const closed = server.close();
  expect((await events.next()).value).toMatchObject({
    result: { structuredContent: { error: { code: "APPROVAL_REQUIRED" } } },
  });
  await closed;
});

test("a client that can show a form is asked itself", async () => {
  const { send, list } = await serveWatched();
  const capabilities = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } };
  const answered = await send("a.txt", undefined, capabilities);
  expect(await answered.json()).toMatchObject({ result: { resultType: "input_required" } });
  expect(await list()).toEqual([]);
});

test("only a token with scope admin sees and answers, and no caller can approve its own call without it", async () => {
  const { readers, agent, at, write, asked, answer, list } = await serveWatched();
  const written = write("a.txt");
  const { approval_id } = await asked();
  for (const { token } of [...readers, agent]) {
    const refused = await at("", token);
    expect(refused.status).toBe(403);
    expect(refused.headers.get("www-authenticate")).toBe('Bearer error="insufficient_scope", scope="admin"');
    expect((await at("?follow", token)).status).toBe(403);
    expect((await answer(approval_id, { answer: "once" }, token)).status).toBe(403);
  }
  expect((await answer(approval_id, { answer: "once" }, "oct_nobody")).status).toBe(401);
  expect(await list()).toHaveLength(1);
  await answer(approval_id, { answer: "deny" });
  expect(await written).toMatchObject({ error: { code: "PERMISSION_DENIED" } });
});

test("a page of another origin, and an invalid answer, change nothing", async () => {
  const { admin, at, write, asked, answer, list } = await serveWatched();
  const written = write("a.txt");
  const { approval_id } = await asked();
  const origin = { origin: "https://evil.example" };
  expect((await at("", admin.token, { headers: origin })).status).toBe(403);
  const post = { method: "POST", headers: origin, body: '{"answer":"once"}' };
  expect((await at(`/${approval_id}`, admin.token, post)).status).toBe(403);
  for (const given of [{}, [], "once", { answer: "yes" }, { answer: "deny", reason: "x".repeat(1_001) }]) {
    const refused = await answer(approval_id, given);
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { code: "INVALID_ARGUMENT" } },
    ]);
  }
  expect((await at(`/${approval_id}`, admin.token, { method: "DELETE" })).status).toBe(405);
  expect((await at("", admin.token, post)).status).toBe(403);
  expect(await list()).toHaveLength(1);
  await answer(approval_id, { answer: "deny" });
  await written;
});

test("without an admin token nothing waits, and a server that leaves asking to its host has no such page", async () => {
  const { write } = await serve();
  expect(await write("a.txt")).toMatchObject({
    error: { code: "APPROVAL_REQUIRED", message: expect.stringContaining("nobody can be asked here") },
  });
  const host = await serve({ permissions: "host" });
  const { token } = host.tokens.create({ scopes: ["admin"] });
  expect((await host.at("", token)).status).toBe(404);
});
