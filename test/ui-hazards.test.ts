// Pages that hang, loop, fail or are hard to read, as a model meets them.
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Hazards, openHazards } from "./ui/hazards.ts";
import { lacks } from "./ui/lacks.ts";
import { openUi, type UiClient } from "./ui/ui-client.ts";
import { openWaysOut, tryWays, type WaysOut } from "./ui/ways-out.ts";

describe.skipIf(lacks("chromium"))("difficult pages", () => {
  let site: Hazards;
  let ways: WaysOut;
  let client: UiClient;
  const ui: UiClient["ui"] = (action, input) => client.ui(action, input);
  const fails: UiClient["fails"] = (action, input) => client.fails(action, input);
  const visit = (path: string) => ui("navigate", { url: `${site.url}${path}` });
  beforeAll(async () => {
    site = await openHazards();
    ways = await openWaysOut();
    client = await openUi({ settings: { net: { deny: [ways.denied.host] } } });
  });
  afterAll(async () => {
    await client?.[Symbol.asyncDispose]();
    await site?.[Symbol.asyncDispose]();
    await ways?.[Symbol.asyncDispose]();
  });

  test("a script that never ends is stopped, and a page that it holds can be left", async () => {
    await visit("/busy");
    const endless = await fails("evaluate", { script: "while (true) {}", timeout: 500 });
    expect(endless).toMatchObject({ code: "TIMEOUT", message: expect.stringContaining("was stopped") });
    expect((await ui("evaluate", { script: "1 + 1" })).result).toBe(2);
    expect(await fails("click", { target: "text=Hang", timeout: 500 })).toMatchObject({
      code: "TIMEOUT",
      message: expect.stringContaining("ui.navigate"),
    });
    expect(await visit("/plain")).toMatchObject({ title: "Plain", status: 200 });
  });

  test("after endless redirects the next page opens", async () => {
    const endless = await fails("navigate", { url: `${site.url}/loop` });
    expect(endless).toMatchObject({
      code: "UPSTREAM_ERROR",
      message: expect.stringContaining("ERR_TOO_MANY_REDIRECTS"),
    });
    expect(await visit("/plain")).toMatchObject({ title: "Plain", new_page: true });
  });

  test("a small page is shown whole, an empty one as such", async () => {
    expect((await visit("/plain")).changes).toMatch(/link "Here".*\n- main \[e\d+\]: Main part$/);
    expect(await visit("/empty")).toMatchObject({ new_page: true, changes: "" });
  });

  test("scripts may return, await, and name the target", async () => {
    await visit("/plain");
    const result = async (input: object) => (await ui("evaluate", input)).result;
    expect(await result({ script: "return document.title" })).toBe("Plain");
    expect(await result({ script: "await Promise.resolve(7)" })).toBe(7);
    expect(await result({ script: "const x = await 3; return x + 1" })).toBe(4);
    expect(await result({ script: "element.textContent", target: "main" })).toBe("Main part");
    expect(await fails("evaluate", { script: "return (" })).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("files are given to a field, which names them, and to what opens a file chooser", async () => {
    await client.call("fs", "write", { uri: "a.txt", content: "hello" });
    await visit("/chooser");
    const given = await ui("upload", { target: "#field", files: ["a.txt"] });
    expect(given.changes).toMatch(/button "Choose file" \[e\d+\] value="a.txt"/);
    expect((await ui("upload", { target: "text=Choose files", files: ["a.txt"] })).changes).toContain(
      'clickable "a.txt"',
    );
  });

  test("a script is awaited until it returns a true value, in every form in which models write one", async () => {
    await visit("/plain");
    const scripts = ["() => false", "async () => false", "Promise.resolve(false)", "document.title === 'x'"];
    for (const script of scripts)
      expect(await fails("wait", { script, timeout: 200 })).toMatchObject({ code: "TIMEOUT" });
    for (const script of ["() => document.title", "await 1", "return document.title === 'Plain'"])
      await ui("wait", { script });
    const broken = await fails("wait", { script: "missing.thing" });
    expect(broken).toMatchObject({ code: "INVALID_ARGUMENT" });
    await ui("evaluate", { script: "void setTimeout(() => { location.href = '/empty'; }, 300)" });
    expect((await ui("wait", { script: "document.title === 'Empty'" })).title).toBe("Empty");
  });

  test("a field says what it takes, and refuses other text instead of being emptied", async () => {
    expect((await visit("/fields")).changes).toContain('type=date value="2026-01-01"');
    const refused = await fails("type", { target: "[type=date]", text: "16.11.2026" });
    expect(refused).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(refused.message).toContain("2026-11-16");
    expect(await fails("type", { target: "text=Volume", text: "11" })).toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    const read = "[...document.querySelectorAll('input, textarea')].map(({ value }) => value)";
    expect((await ui("evaluate", { script: read })).result).toEqual(["2026-01-01", "5", "one\ntwo"]);
    await ui("type", { target: "[type=date]", text: "2026-11-16" });
    await ui("type", { target: "text=Volume", text: "7" });
    await ui("type", { target: "textarea", text: "!", append: true });
    expect((await ui("evaluate", { script: read })).result).toEqual(["2026-11-16", "7", "one\ntwo!"]);
    expect((await ui("type", { target: "#text", text: "!", append: true })).changes).toContain("A B!");
  });

  test("an editor in a frame is a text box, and what is in a slot names a field of a component", async () => {
    await visit("/editor");
    const [, box] = /textbox \[(f\d+e\d+)\]/.exec((await ui("snapshot", { interactive: true })).text) ?? [];
    await ui("type", { target: box, text: "Final" });
    expect((await ui("snapshot")).text).toContain("Final");
    expect((await visit("/component")).changes).toContain('checkbox "Agree"');
    expect((await ui("click", { target: "text=Agree" })).changes).toMatch(
      /checkbox "Agree" \[e\d+\] checked focused/,
    );
  });

  test("an effect in the next frame belongs to the action, and a missing part of a page is not found", async () => {
    await visit("/frames");
    expect((await ui("click", { target: "text=Draw" })).changes).toContain("focused");
    expect((await ui("click", { target: "text=Draw" })).changes).toContain("drawn");
    expect(await fails("snapshot", { target: "#missing" })).toMatchObject({ code: "NOT_FOUND" });
    expect(await fails("tabs", { op: "select" })).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("input that a page cannot take is a typed error with the next step, and changes nothing", async () => {
    await visit("/fields");
    const refuses = async (action: string, input: object, code: string, next: string) => {
      const refused = await fails(action, input);
      expect(refused).toMatchObject({ code, message: expect.stringContaining(next) });
    };
    const bad = "INVALID_ARGUMENT";
    await refuses("press", { keys: "Control+Nokey" }, bad, "'Nokey'");
    await refuses("press", { keys: "Control+Nokey", target: "textarea" }, bad, "'Nokey'");
    // Control is not left down: with it the letter would select all.
    expect((await ui("type", { text: "a", target: "textarea", append: true })).changes).toContain("twoa");
    await refuses("click", { target: "5000,10" }, bad, "outside the view of 1280x720");
    await refuses("hover", { target: "10,-5" }, bad, "outside the view");
    await refuses("drag", { target: "10,10", to: "10,5000" }, bad, "outside the view");
    await refuses("select", { target: "select", values: ["Huge"] }, bad, "'Small', 'Large' (disabled)");
    await refuses("navigate", { history: "forward" }, "NOT_FOUND", "no page to go forward to");
    await refuses("navigate", { url: "view-source:http://a/" }, bad, "view-source: cannot be opened");
    await refuses("navigate", { url: "http://" }, bad, "not a URL");
    await refuses("navigate", { url: "localhost:3000" }, bad, "write http://localhost:3000");
    const respond = { url: "file:///etc/passwd" };
    await refuses("route", { op: "modify", pattern: "**/plain", respond }, bad, "http and https only");
    await client.call("fs", "write", { uri: "no.har", content: "no" });
    await refuses("route", { op: "har_replay", uri: "no.har" }, bad, "not valid JSON");
    await ui("route", { op: "har_start" });
    await refuses("route", { op: "har_start" }, bad, "already been started");
    await visit("/plain");
    await ui("route", { op: "har_stop", output: "yes.har" });
    const values = await ui("evaluate", { script: "[10n, NaN, -Infinity, new TypeError('x')]" });
    expect(values.result).toEqual(["10n", "NaN", "-Infinity", "TypeError: x"]);
  });

  test("a HAR cannot answer with files of the machine, not even through a link in the workspace", async () => {
    await visit("/plain");
    symlinkSync("/etc/passwd", join(client.root, "link"));
    const content = { mimeType: "text/plain", _file: "link" };
    const entry = {
      request: { method: "GET", url: `${site.url}/secret`, headers: [] },
      response: { status: 200, statusText: "", headers: [], content },
    };
    await client.call("fs", "write", {
      uri: "link.har",
      content: JSON.stringify({ log: { entries: [entry] } }),
    });
    await ui("route", { op: "har_replay", uri: "link.har" });
    const { result } = await ui("evaluate", { script: "fetch('/secret').then((r) => r.text(), String)" });
    expect(result).not.toContain("root:");
    await ui("tabs", { op: "quit" });
  });

  test("a click on a link that downloads is answered when the download has begun, however late", async () => {
    await visit("/downloads");
    const named = (name: string) => [{ download: expect.any(String), name }];
    expect(await ui("click", { target: "text=Prevented" })).not.toHaveProperty("awaited_downloads");
    const late = await ui("click", { target: "text=Late", timeout: 60_000 });
    expect(late.downloads).toEqual(named("late.csv"));
    const { text } = await ui("snapshot");
    const [, framed] = /"Framed" \[(f\d+e\d+)\]/.exec(text) ?? [];
    expect((await ui("click", { target: framed, timeout: 60_000 })).downloads).toEqual(named("late.csv"));
    const held = await ui("click", { target: "text=Held", timeout: 1_000 });
    expect(held).toMatchObject({ awaited_downloads: [`${site.url}/held.csv`] });
    expect(held).not.toHaveProperty("downloads");
    site.release();
    await expect
      .poll(async () => (await ui("wait", { text: "Held" })).downloads, { timeout: 30_000 })
      .toEqual(named("held.csv"));
  });

  test("a selector that only a frame matches is told so", async () => {
    await visit("/frame");
    const missed = await fails("click", { target: "text=Inside", timeout: 500 });
    expect(missed).toMatchObject({ code: "NOT_FOUND", message: expect.stringContaining("one frame has it") });
  });

  test("a frame whose address the browser refuses does not keep answers waiting, nor show a file", async () => {
    await visit("/refused-frame");
    const { text } = await ui("snapshot");
    expect(text).toMatch(/^- iframe \[e\d+\]\n- button/);
    expect(await ui("click", { target: "text=Go" })).toMatchObject({
      title: "Clicked",
      changes: expect.stringContaining("focused"),
    });
  });

  test("an element that changes places is told, and folded text is not", async () => {
    const { changes } = await visit("/order");
    expect(changes).not.toContain("Folded text");
    expect((await ui("click", { target: "text=Turn" })).changes).toMatch(/^~ button "Three" \[e\d+\] moved$/);
    expect((await ui("click", { target: "text=More" })).changes).toContain("Folded text");
  });

  test("a WebSocket that the policy refuses is told, and listed", async () => {
    await visit("/socket");
    await ui("wait", { text: "refused" });
    const { requests } = await ui("route", { op: "log", pattern: "ws://**" });
    expect(requests).toEqual([
      expect.objectContaining({ type: "websocket", failure: expect.stringContaining("is blocked") }),
    ]);
  });

  test("no way in which a page can send a request reaches a host that the policy denies", async () => {
    await tryWays(client, ways);
    await ui("tabs", { op: "quit" });
  });

  test("errors name the resource; of many the last are shown, with the count of the others", async () => {
    const { errors } = await visit("/noise");
    expect(errors).toEqual([expect.stringContaining(`(Not Found) <${site.url}/missing.png>`)]);
    const noisy = await ui("click", { target: "text=Log" });
    expect(noisy.errors).toHaveLength(6);
    expect(noisy.errors[0]).toMatch(/^… \d+ earlier: ui\.console$/);
    expect(noisy.errors.at(-1)).toMatch(/^error 1199 \(http.*:\d+\)$/);
    const latest = await client.raw("ui", { action: "console", level: "error", limit: 1 });
    const { data, meta } = latest.structuredContent;
    expect(data.dropped).toBeGreaterThan(0);
    expect(data.entries).toEqual([expect.objectContaining({ text: "error 1199" })]);
    const { cursor } = meta.paging;
    const earlier = await ui("console", { level: "error", limit: 2, cursor });
    expect(earlier.entries.map(({ text }: { text: string }) => text)).toEqual(["error 1197", "error 1198"]);
  });
});
