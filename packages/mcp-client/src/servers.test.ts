import { expect, test } from "vitest";
import { createConsent, hostile, node, open, textOf } from "../testing/open.ts";

test.each(["good", "chatty", "abrupt"])("an older server that is %s works", async (how) => {
  const { settled, call, stateOf } = open({ old: hostile(how) });
  await settled();
  expect(stateOf("old")).toMatchObject({ state: "ready", protocol: "2025-06-18" });
  expect(textOf(await call("mcp__old__echo", { a: 1 }))).toBe('{"a":1}');
  expect(await call("mcp__old__fail")).toMatchObject({ is_error: true });
});

test("bad servers do not affect others: each reports why it is unusable, and the good one works", async () => {
  const { settled, call, stateOf } = open({
    dead: hostile("dead"),
    gone: { url: "http://127.0.0.1:9/mcp", headers: {} },
    good: hostile(),
  });
  await expect.poll(() => stateOf("good")?.state).toBe("ready");
  expect(textOf(await call("mcp__good__echo", {}))).toBe("{}");
  await settled();
  expect(stateOf("dead")).toMatchObject({
    state: "failed",
    reason: expect.stringMatching(
      /^the program ended before it answered; it wrote: .*I will not start today/,
    ),
  });
  expect(stateOf("gone")).toMatchObject({
    state: "failed",
    reason: "the address cannot be reached: bad port",
  });
});

test("a server that never answers, or floods us, is reported after the time that it has", async () => {
  const nothing = node("-e", "setInterval(() => {}, 1000)");
  const { settled, stateOf } = open({ nothing, flood: hostile("flood") }, { connectMs: 300 });
  await settled();
  expect(stateOf("flood")).toMatchObject({ state: "failed" });
  expect(stateOf("nothing")).toMatchObject({ state: "failed", reason: "the server did not answer in time" });
});

test("an answer of 10 MB is cut to a size that a model can read", async () => {
  const { settled, call } = open({ huge: hostile("huge") });
  await settled();
  const text = textOf(await call("mcp__huge__echo"));
  expect(text.length).toBeLessThan(33_000);
  expect(text).toContain("characters left out");
});

test("a call that ends because the server floods us says so", async () => {
  const { settled, call, stateOf } = open({ burst: hostile("burst") });
  await settled();
  await expect(call("mcp__burst__echo")).rejects.toMatchObject({
    code: "UPSTREAM_ERROR",
    message: "the MCP server failed: the server sent a message of more than 16777216 bytes",
  });
  expect(stateOf("burst")).toMatchObject({ state: "failed", reason: expect.stringContaining("16777216") });
});

test("invalid definitions are left out and reported, without affecting the others", async () => {
  const { settled, tools, names, stateOf } = open({
    twice: hostile("twice"),
    ansi: hostile("ansi"),
    bomb: hostile("bomb"),
    many: hostile("many"),
  });
  await settled();
  expect(names().filter((name) => /twice|bomb/.test(name))).toEqual([
    "mcp__twice__echo",
    "mcp__twice__other",
    "mcp__bomb__echo",
  ]);
  expect(tools().find(({ name }) => name === "mcp__twice__echo")?.description).toBe("first");
  expect(tools().find(({ server }) => server === "ansi")?.description).toBe("red end");
  expect(stateOf("bomb")?.problems).toHaveLength(2);
  expect(stateOf("many")).toMatchObject({ tools: 500, problems: ["1500 tools beyond 500 are left out"] });
});

test("a changed definition is not run until the person agrees", async () => {
  const consent = createConsent();
  const first = open({ a: hostile("changed", "1") }, { consent });
  await first.settled();
  await first.call("mcp__a__echo");
  const second = open({ a: hostile("changed", "2") }, { consent });
  await second.settled();
  expect(second.tools()).toMatchObject([{ name: "mcp__a__echo", changed: true }]);
  expect(second.lines).toEqual([expect.stringContaining("octant mcp accept a")]);
  await expect(second.call("mcp__a__echo")).rejects.toMatchObject({ code: "APPROVAL_REQUIRED" });
  await second.accept("a");
  expect(second.tools()).toMatchObject([{ changed: false }]);
  expect(await second.call("mcp__a__echo")).toMatchObject({ is_error: false });
});

test("a server that crashes in a call fails that call, and is restarted for a later one", async () => {
  const { settled, call } = open({ a: hostile() });
  await settled();
  await expect(call("mcp__a__die")).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  await expect.poll(async () => (await call("mcp__a__echo").catch(() => undefined))?.is_error).toBe(false);
});

test("a call is cancelled by its signal", async () => {
  const { settled, call } = open({ a: hostile() });
  await settled();
  const controller = new AbortController();
  const called = call("mcp__a__slow", {}, controller.signal);
  controller.abort(new Error("enough"));
  await expect(called).rejects.toThrow("enough");
  expect(textOf(await call("mcp__a__echo"))).toBe("{}");
});

test("a server can ask the person and request the folders", async () => {
  const asked: unknown[] = [];
  const { settled, call } = open(
    { a: hostile() },
    {
      elicit: async (question) => {
        asked.push(question);
        return { action: "accept", content: { colour: "blue" } };
      },
    },
  );
  await settled();
  expect(JSON.parse(textOf(await call("mcp__a__ask")))).toMatchObject({
    action: "accept",
    content: { colour: "blue" },
  });
  expect(asked).toMatchObject([{ server: "a", message: "Which colour?" }]);
  expect(JSON.parse(textOf(await call("mcp__a__roots")))).toMatchObject({
    roots: [{ uri: "file:///project" }],
  });
});

test("new tools are added at the end after a flood of notifications", async () => {
  const { settled, call, names } = open({ a: hostile() });
  await settled();
  const before = names();
  await call("mcp__a__grow");
  await expect.poll(names).toEqual([...before, "mcp__a__new"]);
});

test("an unknown name is refused", async () => {
  const { call } = open({});
  await expect(call("mcp__a__b")).rejects.toMatchObject({ code: "UNKNOWN_TOOL" });
});

test("a server's prompts are listed in plain text, filled and refreshed", async () => {
  const { settled, prompts, prompt, call } = open({ notes: hostile("offers") });
  await settled();
  const signal = new AbortController().signal;
  expect(prompts()).toEqual([
    {
      server: "notes",
      prompt: "review",
      description: "Review a file",
      arguments: [{ name: "path", description: "", required: true }],
    },
  ]);
  expect(await prompt("notes", "review", { path: "a.ts" }, signal)).toMatchObject({
    content: [{ text: "Review a.ts." }, { text: "Assistant:" }, { text: "I will." }],
  });
  await expect(prompt("notes", "none", {}, signal)).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  await expect(prompt("other", "review", {}, signal)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await call("mcp__notes__grow");
  await expect.poll(() => prompts().map((one) => one.prompt), { timeout: 20_000 }).toEqual(["review", "new"]);
});

test("a server's resources are listed with its templates and read as text or pictures", async () => {
  const { settled, resources, read, stateOf } = open({ notes: hostile("offers") });
  await settled();
  const signal = new AbortController().signal;
  expect(resources().map(({ uri, is_template }) => [uri, is_template])).toEqual([
    ["notes://today", false],
    ["notes://{day}", true],
  ]);
  expect(stateOf("notes")).toMatchObject({ prompts: 1, resources: 2 });
  expect(await read("notes", "notes://monday", signal)).toMatchObject({
    content: [{ type: "text", text: "note notes://monday" }],
  });
  expect(await read("notes", "notes://picture", signal)).toMatchObject({
    content: [{ type: "image", mime: "image/png" }],
  });
  await expect(read("notes", "other://x", signal)).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
});

test.each(["mute", "listless"])("closing does not wait for a server that is %s", async (how) => {
  // The test would run out of time before the server does.
  const { close, stateOf } = open({ slow: hostile(how) }, { connectMs: 3_600_000 });
  await close();
  expect(stateOf("slow")?.state).toBe("closed");
});

test("the reason why a server cannot be used is reported once, with what it wrote to stderr", async () => {
  const failed: string[] = [];
  const { settled, call } = open({ dead: hostile("dead") }, { onFailed: (line) => failed.push(line) });
  await settled();
  await call("mcp__dead__echo").catch(() => {});
  expect(failed).toEqual([
    expect.stringMatching(/^MCP server dead cannot be used: .*I will not start today; octant mcp test dead/),
  ]);
});
