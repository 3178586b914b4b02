import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StampedEvent } from "@octant/agent";
import { newHandle } from "@octant/core";
import { expect, onTestFinished, test } from "vitest";
import { openHub } from "../../testing/open-hub.ts";
import { createHubLogs } from "../sessions/session-logs.ts";
import { openSqliteHubStore } from "../store/sqlite-hub-store.ts";
import { followEvents } from "./follow-events.ts";

const eventOf = (id: string, seq: number): StampedEvent => ({
  type: "notice",
  level: "info",
  text: `event ${seq}`,
  seq,
  session_id: id,
  at: "2026-11-18T00:00:00.000Z",
});

async function openLogs() {
  const folder = mkdtempSync(join(tmpdir(), "octant-hub-"));
  const store = openSqliteHubStore({ file: join(folder, "hub.db") });
  let reads = 0;
  const logs = await createHubLogs({
    ...store.events,
    read(...args) {
      reads += 1;
      return store.events.read(...args);
    },
  });
  onTestFinished(async () => {
    await logs[Symbol.asyncDispose]();
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return { logs, reads: () => reads };
}

test("a thousand readers get every event in order, without a read of the database for each", async () => {
  const { logs, reads } = await openLogs();
  const [readers, events] = [1_000, 50];
  const writer = await logs.logs.open("ses_1");
  await writer.append(eventOf("ses_1", 1));
  const stop = new AbortController();
  const read = async () => {
    const seen: number[] = [];
    for await (const page of followEvents(logs, "ses_1", 0, stop.signal)) {
      seen.push(...page.map(({ seq }) => seq));
      if (seen.length === events) return seen;
    }
    return seen;
  };
  const all = Array.from({ length: readers }, read);
  for (let seq = 2; seq <= events; seq += 1) await writer.append(eventOf("ses_1", seq));
  const expected = Array.from({ length: events }, (_, n) => n + 1);
  for (const seen of await Promise.all(all)) expect(seen).toEqual(expected);
  expect(reads()).toBe(0);
  stop.abort();
  await writer.close();
});

test("a reader that falls behind what is in memory reads the rest from the log", async () => {
  const { logs, reads } = await openLogs();
  const writer = await logs.logs.open("ses_1");
  const stop = new AbortController();
  const pages = followEvents(logs, "ses_1", 0, stop.signal);
  const total = 1_200;
  for (let seq = 1; seq <= total; seq += 1) await writer.append(eventOf("ses_1", seq));
  const seen: number[] = [];
  for await (const page of pages) {
    seen.push(...page.map(({ seq }) => seq));
    if (seen.length === total) stop.abort();
  }
  expect(seen).toEqual(Array.from({ length: total }, (_, n) => n + 1));
  expect(reads()).toBeGreaterThan(0);
  await writer.close();
});

test("events are streamed over HTTP from any number, to tokens of their project only", async () => {
  const { hub, get } = await openHub();
  const { project_id } = await get<{ project_id: string }>("project.create", { name: "own" });
  const { project_id: foreign } = await get<{ project_id: string }>("project.create", { name: "foreign" });
  const id = newHandle("ses", Date.now());
  const at = new Date().toISOString();
  await hub.store.records("session").add({
    ...{ id, project_id, workspace_id: "w", state: "idle", root_id: id, depth: 0, cost: 0 },
    ...{ caller_tools: [], pending: [], created_at: at, updated_at: at },
  });
  for (const seq of [1, 2, 3]) await hub.store.events.append(id, eventOf(id, seq));
  const server = await hub.serve();
  const open = async (project: string, headers: Record<string, string> = {}, method = "GET") => {
    const scope = `project:${project}:ro`;
    const { token } = await get<{ token: string }>("token.create", { name: newHandle("t", 1), scope });
    const authorization = `Bearer ${token}`;
    return fetch(new URL(`/sessions/${id}/events`, server.url), {
      method,
      headers: { ...headers, authorization },
    });
  };
  expect((await fetch(new URL(`/sessions/${id}/events`, server.url))).status).toBe(401);
  expect((await open(foreign)).status).toBe(404);
  expect((await open(project_id, {}, "POST")).status).toBe(405);
  expect((await open(project_id, { "last-event-id": "x" })).status).toBe(400);
  const response = await open(project_id, { "last-event-id": "1" });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  let text = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes("id: 3\n") && !text.includes("id: 4\n"))
      await hub.store.events.append(id, eventOf(id, 4));
    if (text.includes("id: 4\n")) break;
  }
  expect([...text.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => seq)).toEqual(["2", "3", "4"]);
  expect(text).toContain(`event: notice\ndata: ${JSON.stringify(eventOf(id, 2))}\n\n`);
  await server.close();
});
