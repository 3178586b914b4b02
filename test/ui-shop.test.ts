// A small shop, driven from end to end over MCP stdio by the published command, on its defaults.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installCommand } from "./published-command.ts";
import { lacks } from "./ui/lacks.ts";
import { BIG_ROWS, openShop, type Shop } from "./ui/shop.ts";
import { openUi, type UiClient } from "./ui/ui-client.ts";

const KIBIBYTE = 1024;
const folder = mkdtempSync(join(tmpdir(), "octant-ui-command-"));
let shop: Shop;
let client: UiClient;
const ui: UiClient["ui"] = (action, input) => client.ui(action, input);
const fails: UiClient["fails"] = (action, input) => client.fails(action, input);
const visit = (path: string) => ui("navigate", { url: `${shop.url}${path}` });
const inProject = (path: string) => join(client.root, path);
/** The ref of the element with this name in a text. */
const refOf = (text: string, name: string): string => {
  const [, ref] = new RegExp(`"${name}" \\[(\\w+)\\]`).exec(text) ?? [];
  if (ref === undefined) throw new Error(`no ref for ${name} in\n${text}`);
  return ref;
};

describe.skipIf(lacks("chromium"))("a shop in the browser", () => {
  beforeAll(async () => {
    shop = await openShop();
    client = await openUi({ launcher: installCommand(folder) });
  });
  afterAll(async () => {
    await client?.[Symbol.asyncDispose]();
    await shop?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  test("before a page is open, actions say what to do first", async () => {
    expect(await fails("click", { target: "e1" })).toMatchObject({
      code: "NOT_FOUND",
      message: expect.stringContaining("ui.navigate"),
    });
    expect((await ui("tabs", { op: "list" })).tabs).toEqual([]);
  });

  test("a page is opened, read as a tree with refs, and marked as untrusted", async () => {
    const opened = await visit("/");
    expect(opened).toMatchObject({ status: 200, title: "Shop", new_page: true, loaded: true, tab: "t1" });
    expect(opened.notice).toContain("untrusted");
    const { text, complete, notice } = await ui("snapshot");
    expect(text).toContain('- heading "Welcome"');
    expect(text).toMatch(/link "Desk lamp" \[e\d+\] url=\/product\/1/);
    expect(text).toMatch(/ {2}- searchbox "Search" \[e\d+\]/);
    expect({ complete, notice: notice.includes("untrusted") }).toEqual({ complete: true, notice: true });
    const only = await ui("snapshot", { interactive: true });
    expect(only.text).not.toContain("heading");
    expect(only.text).toContain('button "Find"');
    expect((await ui("snapshot", { target: "ul" })).text).not.toContain("Search");
    expect((await ui("snapshot", { depth: 1 })).text).not.toContain("Desk lamp");
    expect((await ui("snapshot", { changes: true })).text).toBe("");
  });

  test("a search is typed and submitted, and the answer is the next page", async () => {
    const found = await ui("type", { target: "role=searchbox", text: "lamp", submit: true });
    expect(found).toMatchObject({ title: "Search", new_page: true });
    expect(found.url).toContain("/search?q=lamp");
    expect(found.changes).toContain("Results for lamp");
    const followed = await ui("click", { target: refOf(found.changes, "Desk lamp") });
    expect(followed.url).toBe(`${shop.url}/product/1`);
    expect((await ui("navigate", { history: "back" })).title).toBe("Search");
    expect((await ui("navigate", { history: "forward" })).title).toBe("Desk lamp");
    expect((await ui("navigate", { history: "reload" })).status).toBe(200);
  });

  test("an order: select, check, fill and click; each answer reports the changes, in less than 2 KiB", async () => {
    await visit("/product/1");
    expect(await ui("select", { target: "#size", values: ["Large"] })).toMatchObject({ selected: ["Large"] });
    expect((await ui("click", { target: "#gift", checked: true })).changes).toContain("checked");
    expect((await ui("click", { target: "#gift", checked: true })).changes).not.toContain("checked");
    expect((await ui("type", { target: "#amount", text: "3" })).changes).toContain('value="3"');
    const { text } = await ui("snapshot");
    const bought = await ui("click", { target: refOf(text, "Add to cart") });
    expect(bought.changes).toContain("In your cart: 3");
    expect(bought.new_page).toBe(false);
    expect(JSON.stringify(bought).length).toBeLessThan(2 * KIBIBYTE);
    expect(shop.seen).toContain("POST /api/cart");
  });

  test("actions wait for an element to be ready, or fail with the reason why it is not", async () => {
    await visit("/product/2");
    expect((await ui("click", { target: "#later" })).changes).toContain("We will tell you");
    await visit("/covered");
    const covered = await fails("click", { target: "text=Below", timeout: 700 });
    expect(covered).toMatchObject({ code: "TIMEOUT", details: { after_ms: 700 } });
    expect(covered.message).toContain("intercepts pointer events");
    expect((await fails("click", { target: "text=Never", timeout: 700 })).message).toContain("not enabled");
    expect(await fails("click", { target: "#nowhere", timeout: 300 })).toMatchObject({ code: "NOT_FOUND" });
    const many = await fails("click", { target: "button", timeout: 700 });
    expect(many).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(many.message).toContain("2 elements match");
    expect(await fails("type", { target: "body", text: "x", timeout: 700 })).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringMatching(/^target: Element is not an <input>/),
    });
    expect(await fails("click", { target: "[[", timeout: 700 })).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("a stale ref is a conflict that names similar elements", async () => {
    const { changes } = await visit("/rerender");
    const ref = refOf(changes, "Again");
    expect((await ui("click", { target: ref })).changes).toContain("Drawn 2");
    const stale = await fails("click", { target: ref });
    expect(stale.code).toBe("CONFLICT");
    expect(stale.details.expected).toContain('button "Again"');
    await ui("click", { target: refOf(stale.details.actual, "Again") });
    await visit("/");
    expect(await fails("click", { target: ref })).toMatchObject({ code: "CONFLICT" });
    expect(await fails("click", { target: "e999999" })).toMatchObject({ code: "NOT_FOUND" });
  });

  test("forms: text, password, radio, text area, rich text; a password is not shown", async () => {
    await visit("/account");
    await ui("type", { target: 'role=textbox[name="Email"]', text: "ada@example.org" });
    expect((await ui("type", { target: "[name=password]", text: "hunter2" })).changes).not.toContain(
      "hunter2",
    );
    await ui("type", { target: "textarea", text: "First" });
    expect((await ui("type", { target: "textarea", text: " second", append: true })).changes).toContain(
      "First second",
    );
    await ui("type", { target: "#note", text: "Rich" });
    await ui("click", { target: "[value=yes]" });
    await ui("focus", { target: "textarea" });
    await ui("type", { text: "!" });
    expect((await ui("evaluate", { script: "document.querySelector('textarea').value" })).result).toContain(
      "!",
    );
    expect((await ui("click", { target: "text=Save" })).changes).toContain("Saved ada@example.org yes");
  });

  test("dialogs block the page until they are answered", async () => {
    await visit("/dialogs");
    const asked = await ui("click", { target: "text=Alert" });
    expect(asked.dialog).toEqual({ type: "alert", message: "Watch out" });
    expect(await fails("click", { target: "text=Confirm" })).toMatchObject({ code: "CONFLICT" });
    expect((await ui("dialog", { accept: true })).changes).toContain("warned");
    await ui("click", { target: "text=Confirm" });
    expect((await ui("dialog", { accept: false })).changes).toContain("no");
    await ui("click", { target: "text=Prompt" });
    expect((await ui("dialog", { accept: true, text: "Ada" })).changes).toContain("Hello Ada");
    expect(await fails("dialog", { accept: true })).toMatchObject({ code: "NOT_FOUND" });
  });

  test("frames, also of other sites, and open shadow roots are part of the tree", async () => {
    await visit("/frames");
    const { text } = await ui("snapshot");
    await ui("type", { target: refOf(text, "Card"), text: "4111" });
    expect((await ui("click", { target: refOf(text, "Pay") })).changes).toContain("4111");
    expect((await ui("click", { target: refOf(text, "Press me") })).changes).toContain("Pressed");
    const shadow = await visit("/shadow");
    expect(shadow.changes).toContain("Slotted label");
    await ui("type", { target: refOf(shadow.changes, "Code"), text: "SALE" });
    expect((await ui("click", { target: refOf(shadow.changes, "Apply") })).changes).toContain("Applied SALE");
  });

  test("the pointer and the keyboard: hover, drag, scroll, chords, double and right clicks, points", async () => {
    const { changes } = await visit("/board");
    expect((await ui("drag", { target: refOf(changes, "Card one"), to: "#done" })).changes).toContain(
      "moved into",
    );
    expect((await ui("hover", { target: "#menu" })).changes).toContain("Secret entry");
    expect((await ui("press", { keys: ["a", "Control+b"] })).changes).toContain("Control+b");
    expect((await ui("click", { target: "#ctx", button: "right" })).changes).toContain("Right clicked");
    expect((await ui("click", { target: "#ctx", count: 2 })).changes).toContain("Double clicked");
    const { result } = await ui("evaluate", {
      script: "(element) => { const { x, y } = element.getBoundingClientRect(); return [x, y]; }",
      target: "text=Tap here",
    });
    const point = result.map((value: number) => Math.round(value + 5)).join(",");
    expect((await ui("click", { target: point })).changes).toContain("Tapped");
    await visit("/list");
    expect((await ui("scroll", { dy: 3_000 })).changes).toContain("Entry 21");
    expect((await ui("scroll", { target: "text=Entry 1 >> nth=0" })).url).toContain("/list");
  });

  test("files are uploaded from the workspace, and downloaded into it by the rules of edits", async () => {
    await visit("/files");
    await client.call("fs", "write", { uri: "picture.txt", content: "hello" });
    expect((await ui("upload", { target: "#file", files: ["picture.txt"] })).changes).toContain(
      "picture.txt 5",
    );
    expect(await fails("upload", { target: "#file", files: ["../../etc/passwd"] })).toMatchObject({
      code: "OUTSIDE_WORKSPACE",
    });
    const { downloads } = await ui("click", { target: "text=Report" });
    expect(downloads).toEqual([{ download: "d1", name: "report.csv" }]);
    const saved = await ui("download", { download: "d1", output: "data/report.csv" });
    expect(readFileSync(inProject("data/report.csv"), "utf8")).toBe("name,price\nlamp,39\n");
    expect(saved).toMatchObject({ size: 19, name: "report.csv", undo: expect.stringContaining("blob:") });
    const again = await fails("download", { download: "d1", output: "data/report.csv" });
    expect(again).toMatchObject({ code: "ALREADY_EXISTS" });
    expect(await fails("download", { download: "d1", output: "/etc/report.csv" })).toMatchObject({
      code: "OUTSIDE_WORKSPACE",
    });
  });

  test("waiting returns what appeared, not the whole page", async () => {
    await visit("/late");
    expect((await ui("wait", { text: "Ready now" })).changes).toContain("Ready now");
    await ui("wait", { url: "**/late/done" });
    await ui("wait", { script: "window.isReady === true" });
    await ui("wait", { text: "Loading", gone: true });
    await ui("wait", { idle: true });
    const never = await fails("wait", { text: "Never comes", timeout: 300 });
    expect(never).toMatchObject({ code: "TIMEOUT", details: { after_ms: 300 } });
    expect(JSON.stringify(never).length).toBeLessThan(KIBIBYTE);
  });

  test("scripts: values, functions, errors, and oversized results", async () => {
    await visit("/");
    expect((await ui("evaluate", { script: "[1, { a: document.title }]" })).result).toEqual([
      1,
      { a: "Shop" },
    ]);
    expect((await ui("evaluate", { script: "async () => await Promise.resolve(7)" })).result).toBe(7);
    expect((await fails("evaluate", { script: "missing.thing" })).message).toContain(
      "missing is not defined",
    );
    const large = await ui("evaluate", { script: "'x'.repeat(200000)" });
    expect(JSON.stringify(large).length).toBeLessThan(32 * KIBIBYTE);
    expect((await client.call("fs", "read", { uri: large.ref, max_bytes: 100 })).size).toBe(200_002);
  });

  test("pictures: of the page, an element, the whole page, with refs on it; and a PDF", async () => {
    await visit("/");
    const { structuredContent, content } = await client.raw("ui", { action: "screenshot", marks: true });
    expect(structuredContent.data).toMatchObject({ width: 1280, height: 720, scale: 1, mime: "image/png" });
    expect(content.some(({ type }: { type: string }) => type === "image")).toBe(true);
    expect((await ui("snapshot")).text).not.toContain("e1e");
    expect((await ui("screenshot", { target: "h1" })).height).toBeLessThan(100);
    const full = await ui("screenshot", { full: true, output: "shots/home.png" });
    expect(readFileSync(inProject("shots/home.png")).length).toBe(full.size);
    await ui("pdf", { output: "home.pdf" });
    expect(readFileSync(inProject("home.pdf")).subarray(0, 5).toString()).toBe("%PDF-");
  });

  test("tabs: a link opens one, which is selected and closed", async () => {
    await visit("/popup");
    const { opened, tab } = await ui("click", { target: "text=New tab" });
    expect(opened).toEqual([{ tab: expect.any(String), url: `${shop.url}/inner` }]);
    await ui("tabs", { op: "select", tab: opened[0].tab });
    expect((await ui("snapshot")).text).toContain("Press me");
    const { tabs } = await ui("tabs", { op: "close", tab: opened[0].tab });
    expect(tabs.map((row: { tab: string }) => row.tab)).toEqual([tab]);
    const broken = await ui("click", { target: "text=Break" });
    expect(broken.errors).toEqual([
      expect.stringMatching(/^broken thing \(http.*:3\)$/),
      expect.stringContaining("missing is not defined"),
    ]);
    const { entries } = await ui("console", { level: "error" });
    expect(entries.at(-2)).toMatchObject({ level: "error", text: "broken thing" });
  });

  test("profiles share nothing; their storage can be saved and loaded", async () => {
    await visit("/account");
    await ui("type", { target: "[name=email]", text: "ada@example.org" });
    await ui("click", { target: "text=Save" });
    await ui("storage", { op: "save", output: "state.json" });
    const other = { profile: "other" };
    await ui("navigate", { url: `${shop.url}/account`, ...other });
    const stored = { script: "[localStorage.email ?? null, document.cookie]" };
    expect((await ui("evaluate", { ...stored, ...other })).result).toEqual([null, ""]);
    await ui("storage", { op: "load", uri: "state.json", ...other });
    await ui("navigate", { history: "reload", ...other });
    expect((await ui("evaluate", { ...stored, ...other })).result).toEqual(["ada@example.org", "member=1"]);
    const { tabs } = await ui("tabs", { op: "quit", ...other });
    expect(tabs.every(({ profile }: { profile: string }) => profile === "main")).toBe(true);
    expect(await fails("snapshot", other)).toMatchObject({ code: "NOT_FOUND" });
  });

  test("requests are mocked, blocked, changed and listed; HAR is recorded and replayed", async () => {
    await ui("route", { op: "mock", pattern: "**/api/cart", respond: { json: { count: 99 } } });
    await visit("/product/2");
    expect((await ui("click", { target: "#buy" })).changes).toContain("In your cart: 99");
    const { requests } = await ui("route", { op: "log", pattern: "**/api/*" });
    expect(requests.at(-1)).toMatchObject({ method: "POST", status: 200, type: "fetch" });
    expect((await ui("route", { op: "remove" })).routes).toEqual([]);
    await ui("route", { op: "modify", pattern: "**/headers", respond: { headers: { "x-shop": "yes" } } });
    expect((await visit("/headers")).changes).toContain("x-shop");
    await ui("route", { op: "block", pattern: "**/cart" });
    expect(await fails("navigate", { url: `${shop.url}/cart` })).toMatchObject({ code: "UPSTREAM_ERROR" });
    await ui("route", { op: "remove" });
    await ui("route", { op: "har_start" });
    await visit("/search?q=har");
    await ui("route", { op: "har_stop", output: "shop.har" });
    expect(JSON.parse(readFileSync(inProject("shop.har"), "utf8")).log.entries.length).toBeGreaterThan(0);
    const before = shop.seen.length;
    await ui("route", { op: "har_replay", uri: "shop.har" });
    expect((await visit("/search?q=har")).changes).toContain("Results for har");
    expect(shop.seen.length).toBe(before);
    await ui("tabs", { op: "quit" });
  });

  test("devices, languages, time zones, colours and offline mode are emulated, in later tabs and after restarts too", async () => {
    await visit("/");
    const small = { width: 500, height: 400 };
    await ui("emulate", { settings: { viewport: small, color_scheme: "dark", media: "print" } });
    const looks =
      "[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches, matchMedia('print').matches]";
    await ui("tabs", { op: "new" });
    await visit("/");
    expect((await ui("evaluate", { script: looks })).result).toEqual([500, true, true]);
    await ui("emulate", { settings: { locale: "de-DE", timezone: "Asia/Tokyo" } });
    expect((await ui("evaluate", { script: looks })).result).toEqual([500, true, true]);
    await ui("emulate", { settings: { device: "iPhone 15" } });
    const script =
      "[devicePixelRatio, navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.userAgent.includes('iPhone')]";
    expect((await ui("evaluate", { script })).result).toEqual([3, "de-DE", "Asia/Tokyo", true]);
    expect(await ui("screenshot")).toMatchObject({ scale: 3, width: 3 * 393 });
    await ui("emulate", { settings: { viewport: small } });
    expect((await ui("screenshot")).width).toBe(3 * 500);
    await ui("emulate", { settings: { offline: true } });
    expect(await fails("navigate", { url: `${shop.url}/` })).toMatchObject({ code: "UPSTREAM_ERROR" });
    await ui("emulate", { settings: { offline: false } });
    const refused = [
      { locale: "x!" },
      { timezone: "Mars/X" },
      { permissions: ["no"] },
      { headers: { "a b": "" } },
    ];
    for (const settings of refused)
      expect(await fails("emulate", { settings })).toMatchObject({ code: "INVALID_ARGUMENT" });
    await ui("emulate", { settings: { headers: { "x-kept": "yes" } } });
    await ui("emulate", { settings: { timezone: "Europe/Rome" } });
    expect((await ui("evaluate", { script })).result).toEqual([3, "de-DE", "Europe/Rome", true]);
    expect((await ui("screenshot")).width).toBe(3 * 500);
    expect((await visit("/headers")).changes).toContain("x-kept");
    const unknown = await fails("emulate", { settings: { device: "iPhone 3000" } });
    expect(unknown.message).toContain("similar ones: iPhone");
    await ui("tabs", { op: "quit" });
  });

  test("traces and videos are saved, and a session reports when the page changed", async () => {
    await visit("/late");
    await ui("trace", { op: "start" });
    await ui("click", { target: "h1" });
    await ui("trace", { op: "stop", output: "trace.zip" });
    expect(readFileSync(inProject("trace.zip")).subarray(0, 2).toString()).toBe("PK");
    if (lacks("ffmpeg")) return;
    const { recording } = await ui("record");
    expect(await fails("record", {})).toMatchObject({
      code: "UPSTREAM_ERROR",
      message: expect.stringContaining("one recording at a time"),
    });
    await ui("evaluate", { script: "document.body.style.background = 'navy'" });
    const video = await ui("stop", { recording, output: "video.mp4" });
    expect(existsSync(inProject("video.mp4"))).toBe(true);
    expect(video.duration).toBeGreaterThan(0);
    await ui("evaluate", {
      script: "void setTimeout(() => { document.body.style.background = 'gold'; }, 1500)",
    });
    const { changes, duration } = await ui("session", { duration: 3_500 });
    expect(changes).toHaveLength(1);
    expect(changes[0].at).toBeGreaterThan(300);
    expect(duration).toBeGreaterThan(1_700);
  });

  test("no request of a page bypasses the network policy: images, redirects, sockets, workers", async () => {
    const sneaky = await visit("/sneaky");
    expect(sneaky.blocked.join(" ")).toContain("169.254.169.254");
    const { changes = "" } = await ui("wait", { text: "worker:false" });
    const { text } = await ui("snapshot");
    expect(`${changes}${text}`).toContain("redirect:false");
    expect(text).toContain("socket:false worker:false");
    expect(await fails("navigate", { url: `${shop.url}/redirect` })).toMatchObject({ code: "NET_BLOCKED" });
    expect(await fails("navigate", { url: "http://10.0.0.1/" })).toMatchObject({ code: "NET_BLOCKED" });
    expect(await fails("navigate", { url: "http://localhost:3/" })).toMatchObject({ code: "UPSTREAM_ERROR" });
    expect(await fails("navigate", { url: "javascript:alert(1)" })).toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    expect(await fails("navigate", { url: "localhost:3000" })).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("files of the workspace are pages; those outside are not, and other sites cannot load any", async () => {
    await client.call("fs", "write", {
      uri: "site/index.html",
      content:
        "<h1>From a file</h1><script src='code.js'></script><script>fetch('/etc/passwd').then((r) => { document.body.append('passwd ' + r.status); });</script>",
    });
    await client.call("fs", "write", { uri: "site/code.js", content: "document.title = 'ran';" });
    const opened = await ui("navigate", { url: "site/index.html" });
    expect(opened).toMatchObject({ title: "ran", url: `file://${inProject("site/index.html")}` });
    await ui("wait", { text: "passwd 403" });
    expect(await fails("navigate", { url: "file:///etc/passwd" })).toMatchObject({
      code: "OUTSIDE_WORKSPACE",
    });
    expect(await fails("navigate", { url: "no/such.html" })).toMatchObject({ code: "NOT_FOUND" });
    await visit("/");
    const script = `new Promise((done) => { const script = document.createElement('script'); script.src = 'http://workspace.localhost${client.root}/site/code.js'; script.onload = () => done('loaded'); script.onerror = () => done('refused'); document.body.append(script); })`;
    expect((await ui("evaluate", { script })).result).toBe("refused");
  });

  test("a large page is read within the budget, with a ref to the rest and a cursor; a click reports only its change", async () => {
    await visit("/big");
    const { structuredContent } = await client.raw("ui", { action: "snapshot" });
    const { data, meta } = structuredContent;
    expect(JSON.stringify(structuredContent).length).toBeLessThan(40 * KIBIBYTE);
    expect(Buffer.byteLength(data.text)).toBeLessThanOrEqual(32 * KIBIBYTE);
    expect(data.lines).toBeGreaterThan(BIG_ROWS);
    const { size } = await client.call("fs", "read", { uri: data.ref, max_bytes: 100 });
    expect(size).toBeGreaterThan(40 * BIG_ROWS);
    const next = await ui("snapshot", { cursor: meta.paging.cursor });
    expect(next.text).not.toContain("Click me");
    expect(next.text).toContain("Buy ");
    const clicked = await ui("click", { target: refOf(data.text, "Click me") });
    expect(clicked.changes).toContain("Clicked it");
    expect(JSON.stringify(clicked).length).toBeLessThan(2 * KIBIBYTE);
  });

  test("a test is generated: navigate, screenshot, evaluate, write, run", async () => {
    await visit("/product/1");
    await ui("screenshot", { output: "shots/product.png" });
    const { result: title } = await ui("evaluate", {
      script: "document.querySelector('h1').textContent",
    });
    await client.call("fs", "write", {
      uri: "package.json",
      content: '{ "type": "module", "scripts": { "test": "node --test" } }\n',
    });
    await client.call("fs", "write", {
      uri: "product.test.js",
      content: `import assert from "node:assert";\nimport test from "node:test";\ntest("the product page has its title", async () => {\n  const page = await (await fetch(${JSON.stringify(`${shop.url}/product/1`)})).text();\n  assert.match(page, /<h1>${title}<\\/h1>/);\n});\n`,
    });
    let run = await client.call("test", "run");
    while (run.status === "running") run = await client.call("test", "status", { run_id: run.run_id });
    expect(run).toMatchObject({ pass: 1, fail: 0 });
  });
});
