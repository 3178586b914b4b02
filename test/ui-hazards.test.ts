// Pages that hang, loop, fail or are hard to read, as a model meets them.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Hazards, openHazards } from "./ui/hazards.ts";
import { lacks } from "./ui/lacks.ts";
import { openUi, type UiClient } from "./ui/ui-client.ts";

describe.skipIf(lacks("chromium"))("difficult pages", () => {
  let site: Hazards;
  let client: UiClient;
  const ui: UiClient["ui"] = (action, input) => client.ui(action, input);
  const fails: UiClient["fails"] = (action, input) => client.fails(action, input);
  const visit = (path: string) => ui("navigate", { url: `${site.url}${path}` });
  beforeAll(async () => {
    site = await openHazards();
    client = await openUi();
  });
  afterAll(async () => {
    await client?.[Symbol.asyncDispose]();
    await site?.[Symbol.asyncDispose]();
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

  test("errors name the resource; of many the last are shown, with the count of the others", async () => {
    const { errors } = await visit("/noise");
    expect(errors).toEqual([expect.stringContaining(`(Not Found) <${site.url}/missing.png>`)]);
    const noisy = await ui("click", { target: "text=Log" });
    expect(noisy.errors).toHaveLength(6);
    expect(noisy.errors[0]).toMatch(/^… \d+ earlier: ui\.console$/);
    expect(noisy.errors.at(-1)).toBe("error 1199");
    const { dropped, entries } = await ui("console", { level: "error", limit: 1 });
    expect(dropped).toBeGreaterThan(0);
    expect(entries).toHaveLength(1);
  });
});
