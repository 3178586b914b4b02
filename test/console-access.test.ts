import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createConsoleTool } from "../packages/app/src/console/console-tool.ts";
import { ENDPOINTS } from "../packages/console/src/endpoints.ts";
import { type ConsolePage, openPage, startConsole } from "./console-client.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { runOctant } from "./octant-process.ts";

const project = createFixtureProject();
const at = { cwd: project.root, env: project.env };
let served: Awaited<ReturnType<typeof startConsole>>;
let page: ConsolePage;
const tokens = new Map<string, string>();

beforeAll(async () => {
  served = await startConsole(at, ["serve", "--http", "--port", "0", "--json"]);
  page = await openPage(served.link);
  const create = async (scope: string) => {
    const { stdout } = await runOctant(["token", "create", "--scope", scope, "--json"], at);
    return JSON.parse(stdout) as { token: string; scopes: readonly string[] };
  };
  for (const scope of ["admin", "admin:ro", "project", "project:ro"])
    tokens.set(scope, (await create(scope)).token);
}, 60_000);
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  project[Symbol.dispose]();
});

const api = (path: string) => new URL(`/console/api/${path}`, served.origin);
const bearer = (scope: string) => ({ authorization: `Bearer ${tokens.get(scope)}` });
const postAs = (scope: string, path: string, body: unknown) =>
  fetch(api(path), {
    method: "POST",
    headers: { ...bearer(scope), "content-type": "application/json" },
    body: JSON.stringify(body),
  });
const SCOPES = ["admin", "admin:ro", "project", "project:ro"] as const;

test("a link opens the page once; the cookie is out of reach for scripts and other sites", async () => {
  expect((await fetch(served.link, { redirect: "manual" })).status).toBe(403);
  const { stdout } = await runOctant(["console", "--json"], at);
  // Previews of a link do not use it up.
  const preview = await fetch(JSON.parse(stdout).url, { method: "HEAD", redirect: "manual" });
  expect(preview.headers.get("set-cookie")).toBeNull();
  const again = await fetch(JSON.parse(stdout).url, { redirect: "manual" });
  expect(again.status).toBe(303);
  expect(again.headers.get("location")).toMatch(/^\/console\/#key=[\w-]{40,}$/);
  expect(again.headers.get("set-cookie")).toMatch(
    /; Path=\/console; Max-Age=\d+; HttpOnly; SameSite=Strict$/,
  );
  const invented = await fetch(new URL("/console/open?code=AAAA", served.origin), { redirect: "manual" });
  expect(invented.status).toBe(403);
});

const ENDPOINT_ROWS = [
  ...Object.entries(ENDPOINTS).map(([name, { method }]) => [name, method] as const),
  ["events", "GET"],
  ["logout", "POST"],
] as const;

test.each(ENDPOINT_ROWS)(
  "%s refuses a caller without a token, and with a wrong one",
  async (name, method) => {
    const guesses: readonly Record<string, string>[] = [
      {},
      { authorization: "Bearer oct_0000000000000000_wrong" },
      { cookie: "octant_console_1=x" },
    ];
    for (const headers of guesses)
      expect((await fetch(api(name), { method, headers })).status, JSON.stringify(headers)).toBe(401);
  },
);

test.each(ENDPOINT_ROWS)(
  "%s refuses the cookie alone, which every server on 127.0.0.1 may receive, and the key alone",
  async (name, method) => {
    const { cookie, origin, "x-octant-console": key } = page.headers;
    const [, share = ""] = cookie.split("=");
    const json = { origin, "content-type": "application/json" };
    const thefts: readonly Record<string, string>[] = [
      { ...json, cookie },
      { ...json, cookie, "x-octant-console": "1" },
      { ...json, cookie, "x-octant-console": share },
      { ...json, cookie, "x-octant-console": `${"A".repeat(key.length - 1)}A` },
      { ...json, authorization: `Bearer ${share}` },
      { ...json, "x-octant-console": key },
      { ...json, "x-octant-console": key, cookie: "octant_console_1=x" },
      { ...json, authorization: `Bearer ${key}` },
    ];
    for (const headers of thefts) {
      const { status } = await fetch(api(name), {
        method,
        headers,
        ...(method === "POST" && { body: "{}" }),
      });
      expect(status, JSON.stringify(headers)).toBe(401);
    }
  },
);

test.each(ENDPOINT_ROWS.filter(([, method]) => method === "POST"))(
  "%s refuses the page's own headers from another site",
  async (name) => {
    const { origin: _origin, ...own } = page.headers;
    const forgeries = [
      own,
      { ...own, "sec-fetch-site": "cross-site" },
      { ...own, "sec-fetch-site": "same-site", origin: page.origin },
      { ...own, origin: "https://evil.example" },
      { ...own, origin: "null" },
    ];
    for (const headers of forgeries) {
      const { status } = await fetch(api(name), { method: "POST", headers, body: "{}" });
      expect(status, JSON.stringify(headers)).toBe(403);
    }
  },
);

test("another Host, as after DNS rebinding, is refused for the page and the API", async () => {
  const { port } = new URL(served.origin);
  for (const path of ["/console/", "/console/api/me", "/console/open?code=x"]) {
    const socket = connect(Number(port), "127.0.0.1");
    socket.end(`GET ${path} HTTP/1.1\r\nHost: evil.example:${port}\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 403/);
  }
});

test("no answer below /console can be framed, sniffed, or load anything from elsewhere", async () => {
  const answers = await Promise.all([
    fetch(new URL("/console/", served.origin)),
    fetch(new URL("/console/nothing.js", served.origin)),
    fetch(api("me"), { headers: page.headers }),
    fetch(new URL("/console/open?code=x", served.origin)),
  ]);
  for (const { headers, url } of answers) {
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy, url).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'; require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  }
});

test("a token logs in, logout removes the cookie, and a wrong token gets none", async () => {
  const headers = { "content-type": "application/json", origin: served.origin, "x-octant-console": "1" };
  const login = (token: string) =>
    fetch(api("login"), { method: "POST", headers, body: JSON.stringify({ token }) });
  expect((await login("oct_0000000000000000_wrong")).headers.get("set-cookie")).toBeNull();
  const signedIn = await login(tokens.get("admin:ro") ?? "");
  const [cookie = ""] = signedIn.headers.get("set-cookie")?.split(";") ?? [];
  const own = { ...headers, cookie, "x-octant-console": (await signedIn.json()).key };
  expect(await (await fetch(api("me"), { headers: own })).json()).toMatchObject({ access: "read" });
  const out = await fetch(api("logout"), { method: "POST", headers: own, body: "{}" });
  expect(out.headers.get("set-cookie")).toContain("Max-Age=0");
});

// Only the declarations are read.
const CONSOLE_ACTIONS = Object.entries(createConsoleTool({} as never).actions);
/** A call of each kind, by the access that it needs. */
const CALLS = [
  ...CONSOLE_ACTIONS.map(([action, { access }]) => ({ tool: "console", action, access, own: true })),
  { tool: "fs", action: "list", access: "read", own: false },
  { tool: "fs", action: "mkdir", access: "write", own: false },
  { tool: "proc", action: "exec", access: "write", own: false },
] as const;
const DENIED = "PERMISSION_DENIED";

test.each(SCOPES)(
  "scope %s: each call is allowed or refused as its action declares",
  async (scope) => {
    const isReader = scope.endsWith(":ro");
    const isLimited = scope.startsWith("project");
    for (const { tool, action, access, own } of CALLS) {
      // Invalid input comes before the check of access, so it is what an allowed call answers with.
      const body = { process: page.me.process, tool, action, input: { not_a_parameter: 1 } };
      const { envelope } = await (await postAs(scope, "call", body)).json();
      expect(envelope.error.code, `${tool}.${action}`).toBe("INVALID_ARGUMENT");
      const input = INPUTS[`${tool}.${action}`];
      if (input === undefined) continue;
      const valid = await (await postAs(scope, "call", { ...body, input })).json();
      const isDenied = (isReader && access !== "read") || (isLimited && own);
      const code = valid.envelope.error?.code;
      if (isDenied) expect(code, `${scope} ${tool}.${action}`).toBe(DENIED);
      else expect(code, `${scope} ${tool}.${action}`).not.toBe(DENIED);
    }
  },
  60_000,
);

/** Harmless where they are allowed. */
const SESSION = { session_id: "session_none" };
const INPUTS: Readonly<Record<string, object>> = {
  ...Object.fromEntries(CONSOLE_ACTIONS.map(([action]) => [`console.${action}`, {}])),
  "console.start": { message: "hi", root: "/nonexistent" },
  "console.message": { ...SESSION, message: "hi" },
  "console.stop": SESSION,
  "console.take_back": SESSION,
  "console.resume": { ...SESSION, root: "/nonexistent" },
  "console.fork": { ...SESSION, root: "/nonexistent" },
  "console.remove": SESSION,
  "console.transcript": SESSION,
  "console.export": SESSION,
  "console.undo": { turn: 99 },
  "console.rewind": { ...SESSION, seq: 1 },
  "console.revert": { ...SESSION, seq: 1 },
  "console.call": { trace_id: "none" },
  "console.explain": { action: "fs.read" },
  "fs.list": { uri: "." },
  "fs.mkdir": { uri: "made" },
  "proc.exec": { command: "true" },
};

test("only scope admin answers questions, and only scope admin sees other processes and questions", async () => {
  const answer = { process: page.me.process, question_id: "question_none", answer: "once" };
  const statuses = await Promise.all(
    SCOPES.map(async (scope) => (await postAs(scope, "answer", answer)).status),
  );
  expect(statuses).toEqual([404, 403, 403, 403]);
  await using other = await startConsole({ ...at, cwd: at.cwd }, [
    "serve",
    "--http",
    "--port",
    "0",
    "--json",
  ]);
  const idsFor = async (scope: string) => {
    const { processes } = await (await fetch(api("processes"), { headers: bearer(scope) })).json();
    return processes.map(({ id }: { id: string }) => id);
  };
  const all = await idsFor("admin");
  expect(all).toHaveLength(2);
  expect(await idsFor("admin:ro")).toEqual(all);
  expect(await idsFor("project")).toEqual([page.me.process]);
  const foreign = all.find((id: string) => id !== page.me.process);
  const call = { process: foreign, tool: "fs", action: "list", input: {} };
  expect((await postAs("project", "call", call)).status).toBe(404);
  expect((await postAs("admin", "call", call)).status).toBe(200);
  expect(other.origin).not.toBe(served.origin);
});

test("reports of the browser are counted", async () => {
  const before = (await page.get("me")).csp_reports;
  await fetch(api("csp-report"), {
    method: "POST",
    body: "{}",
    headers: { "content-type": "application/csp-report" },
  });
  expect((await page.get("me")).csp_reports).toBe(before + 1);
});
