import { createScriptedProvider } from "@octant/scripted-provider";
import { expect, onTestFinished, test } from "vitest";
import { openHub } from "../packages/hub/testing/open-hub.ts";
import { modernRequest } from "../packages/mcp/testing/http.ts";

interface Message {
  readonly method?: string;
  readonly params?: { readonly progress: number; readonly message: string };
  readonly result?: { readonly structuredContent: { readonly data: Record<string, unknown> } };
}

test("a call that waits for the end of a session's work reports its events as MCP progress", async () => {
  const provider = await createScriptedProvider([
    { parts: [{ call: "fs", input: { action: "write", uri: "b.txt", content: "two\n" } }] },
    { parts: [{ text: "Done." }] },
  ]);
  onTestFinished(() => provider.close());
  const { hub, get, createSource } = await openHub({
    env: {
      ANTHROPIC_API_KEY: "sk-test-0123456789abcdef",
      ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
    },
  });
  const server = await hub.serve();
  const { token } = await get<{ token: string }>("token.create", { name: "reader", scope: "admin:ro" });
  const { project_id } = await get<{ project_id: string }>("project.create", {
    ...{ name: "demo", folder: createSource(), model: "some-model" },
  });
  const { session_id } = await get<{ session_id: string }>("session.spawn", { project_id, message: "Go." });
  const { body, headers } = modernRequest(1, "tools/call", {
    name: "session",
    arguments: { action: "events", session_id, wait: 60_000, until: "idle" },
    _meta: { progressToken: "p" },
  });
  const response = await fetch(server.url, {
    method: "POST",
    headers: {
      ...headers,
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify(body),
  });
  const messages = [...(await response.text()).matchAll(/^data: (\{.*)$/gm)].map(
    ([, text = ""]): Message => JSON.parse(text),
  );
  const reported = messages.flatMap(({ method, params }) =>
    method === "notifications/progress" && params ? [params] : [],
  );
  const { data } = messages.at(-1)?.result?.structuredContent ?? {};
  expect(data).toMatchObject({ session_id, state: "idle", outcome: "done" });
  const events = Object(data).events as readonly { readonly seq: number; readonly type: string }[];
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, n) => n + 1));
  expect(events.at(-1)).toMatchObject({ type: "end" });
  expect(reported.length).toBeGreaterThan(1);
  // At most ten a second are sent, the last one always.
  for (const { progress, message } of reported)
    expect(message).toMatch(new RegExp(`^${progress} ${events[progress - 1]?.type}( \\S+)?$`));
  expect(reported.at(-1)?.progress).toBe(events.at(-1)?.seq);
  // An idle session has nothing to wait for, and a short wait ends with what there is.
  const idle = await get<{ events: readonly unknown[] }>("session.events", {
    ...{ session_id, wait: 60_000, until: "idle", since_index: events.length },
  });
  expect(idle.events).toEqual([]);
  await server.close();
});
