import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { accessToken, createCredentialStore, type OAuthCredential } from "@octant/runtime";
import { createScriptedProvider } from "@octant/scripted-provider";
// @ts-expect-error The package has no types of its own.
import Provider from "oidc-provider";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { ended, startOctant } from "./octant-process.ts";
import { OFFLINE } from "./offline.ts";

let project: FixtureProject;
beforeAll(() => {
  project = createFixtureProject();
});
afterAll(() => project[Symbol.dispose]());

const KEY = "sk-test-very-secret-0123456789";
const fileOf = ({ env }: FixtureProject) => join(String(env["HOME"]), ".config/hanzo/credentials.json");
const run = (args: readonly string[], { input = "", env = {} } = {}) =>
  callOctant(args, { cwd: project.root, env: { ...project.env, ...OFFLINE, ...env }, input });

test("a key from stdin is stored privately, shown nowhere, used by a run, and removed", async () => {
  await using provider = await createScriptedProvider(() => ({ parts: [{ text: "hello" }] }), {
    key: KEY,
    models: ["some-model"],
  });
  const env = { ANTHROPIC_BASE_URL: provider.baseUrl("anthropic") };
  const refused = await run(["login", "anthropic"], { input: "sk-mistyped-0123456789\n", env });
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain("anthropic refuses this key");
  expect(existsSync(fileOf(project))).toBe(false);
  const signedIn = await run(["login", "anthropic"], { input: `${KEY}\n`, env });
  expect(signedIn).toMatchObject({ code: 0, stderr: "" });
  expect(statSync(fileOf(project)).mode & 0o777).toBe(0o600);
  const status = await run(["auth", "status"]);
  expect(status.stdout).toMatch(/anthropic +octant login +API key +used/);
  const ran = await run(["run", "hi", "--model", "some-model"], { env });
  expect(ran).toMatchObject({ code: 0, stdout: "hello\n" });
  expect(provider.requests[0]?.headers["x-api-key"]).toBe(KEY);
  for (const { stdout, stderr } of [signedIn, status, ran]) expect(stdout + stderr).not.toContain(KEY);
  expect(await run(["logout", "anthropic"])).toMatchObject({ code: 0, stdout: "signed out of anthropic\n" });
  expect(readFileSync(fileOf(project), "utf8")).not.toContain(KEY);
  expect((await run(["auth", "status"])).code).toBe(1);
});

test("a key as an argument is refused and not repeated", async () => {
  const { code, stdout, stderr } = await run(["login", "openai", KEY]);
  expect(code).toBe(2);
  expect(stdout + stderr).not.toContain(KEY);
});

test.each([
  ["nothing", ""],
  ["a text with spaces", "not a key\n"],
])("%s instead of a key changes nothing", async (_, input) => {
  const before = existsSync(fileOf(project)) && readFileSync(fileOf(project), "utf8");
  expect(await run(["login", "openai"], { input })).toMatchObject({ code: 1 });
  expect(existsSync(fileOf(project)) && readFileSync(fileOf(project), "utf8")).toBe(before);
});

test("of several credentials the first of hanzo, anthropic, openai is used", async () => {
  using own = createFixtureProject();
  for (const name of ["openai", "anthropic", "hanzo"]) {
    const { stderr } = await callOctant(["login", name], {
      cwd: own.root,
      env: { ...own.env, ...OFFLINE },
      input: `${KEY}\n`,
    });
    expect(stderr).toContain(`the key was not checked: ${name} could not be reached`);
    const { stdout } = await callOctant(["auth", "status", "--json"], { cwd: own.root, env: own.env });
    expect(JSON.parse(stdout).find(({ used }: { used: boolean }) => used)).toMatchObject({ provider: name });
  }
});

test("credentials that others can write to are ignored", async () => {
  using own = createFixtureProject();
  await callOctant(["login", "openai"], {
    cwd: own.root,
    env: { ...own.env, ...OFFLINE },
    input: `${KEY}\n`,
  });
  chmodSync(fileOf(own), 0o666);
  const { code, stderr } = await callOctant(["auth", "status"], { cwd: own.root, env: own.env });
  expect(code).toBe(1);
  expect(stderr).toContain("other users can write to it");
});

test("a browser sign-in uses PKCE at a real authorization server", async () => {
  using own = createFixtureProject();
  await using server = await openProvider();
  const child = startOctant(
    ["login", "hanzo", "--method", "browser", "--issuer", server.issuer, "--client-id", "octant"],
    {
      cwd: own.root,
      env: own.env,
    },
  );
  const url = await addressIn(child.stderr);
  expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
    code_challenge_method: "S256",
    response_type: "code",
  });
  expect(await browse(url)).toBe(200);
  expect(await ended(child)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("signed in to hanzo"),
  });
  const { hanzo } = JSON.parse(readFileSync(fileOf(own), "utf8"));
  expect(hanzo).toMatchObject({
    kind: "oauth",
    issuer: server.issuer,
    client_id: "octant",
    refresh_token: expect.any(String),
  });
});

test("a callback with another state is ignored, and one with another issuer ends the sign-in", async () => {
  using own = createFixtureProject();
  await using server = await openProvider();
  const child = startOctant(
    ["login", "hanzo", "--method", "browser", "--issuer", server.issuer, "--client-id", "octant"],
    {
      cwd: own.root,
      env: own.env,
    },
  );
  const url = new URL(await addressIn(child.stderr));
  const forged = new URL(url.searchParams.get("redirect_uri") ?? "");
  forged.search = "?code=stolen&state=guessed";
  expect((await fetch(forged)).status).toBe(404);
  forged.search = `?code=stolen&state=${url.searchParams.get("state")}&iss=https://evil.example`;
  expect((await fetch(forged)).status).toBe(200);
  const { code, stderr } = await ended(child);
  expect(code).toBe(1);
  expect(stderr).toContain("the sign-in failed");
  expect(existsSync(fileOf(own))).toBe(false);
});

test("a device code sign-in waits until the person has agreed", async () => {
  using own = createFixtureProject();
  await using server = await openProvider();
  const child = startOctant(
    [
      "login",
      "openai",
      "--method",
      "device",
      "--issuer",
      server.issuer,
      "--client-id",
      "octant",
      "--scope",
      "openid offline_access",
    ],
    {
      cwd: own.root,
      env: own.env,
    },
  );
  const url = await addressIn(child.stderr);
  expect(await browse(url)).toBe(200);
  expect(await ended(child)).toMatchObject({ code: 0 });
  expect(JSON.parse(readFileSync(fileOf(own), "utf8")).openai).toMatchObject({
    kind: "oauth",
    access_token: expect.any(String),
  });
});

test("concurrent callers refresh a rotated token once, and all get the new one", async () => {
  using own = createFixtureProject();
  await using server = await openProvider();
  const child = startOctant(
    ["login", "hanzo", "--method", "browser", "--issuer", server.issuer, "--client-id", "octant"],
    {
      cwd: own.root,
      env: own.env,
    },
  );
  await browse(await addressIn(child.stderr));
  await ended(child);
  const before: OAuthCredential = JSON.parse(readFileSync(fileOf(own), "utf8")).hanzo;
  const { signal } = new AbortController();
  const tokens = await Promise.all(
    Array.from({ length: 5 }, () =>
      accessToken(createCredentialStore({ env: own.env }), "hanzo", { refused: before.access_token, signal }),
    ),
  );
  expect(new Set(tokens).size).toBe(1);
  expect(tokens[0]).not.toBe(before.access_token);
  const after: OAuthCredential = JSON.parse(readFileSync(fileOf(own), "utf8")).hanzo;
  expect(after.refresh_token).not.toBe(before.refresh_token);
  // Reusing the old one is a replay: the server ends the whole sign-in, and the error says what to do.
  writeFileSync(fileOf(own), JSON.stringify({ hanzo: before }), { mode: 0o600 });
  await expect(
    accessToken(createCredentialStore({ env: own.env }), "hanzo", { refused: before.access_token, signal }),
  ).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
});

/** A real OpenID provider on this machine, whose sign-in pages anybody may click through. */
async function openProvider() {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "octant",
        application_type: "native",
        token_endpoint_auth_method: "none",
        redirect_uris: ["http://127.0.0.1/callback"],
        grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
      },
    ],
    features: { deviceFlow: { enabled: true }, devInteractions: { enabled: true } },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
  });
  provider.on("server_error", () => {});
  // Without it clients ask every five seconds whether the person has agreed.
  provider.use(async (ctx: { body: unknown }, next: () => Promise<void>) => {
    await next();
    if (Object(ctx.body).device_code) ctx.body = { ...Object(ctx.body), interval: 1 };
  });
  server.on("request", provider.callback());
  return {
    issuer,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The first address that a command shows. */
async function addressIn(stream: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stream as never })) {
    const [url] = /http:\/\/127\.0\.0\.1\S+/.exec(line) ?? [];
    if (url) {
      stream.resume();
      return url;
    }
  }
  throw new Error("the command ended without an address");
}

/** Signs in like a person: follows redirects, keeps cookies, submits every form. */
async function browse(start: string): Promise<number> {
  const cookies = new Map<string, string>();
  let next: { url: string; body?: URLSearchParams } = { url: start };
  for (let steps = 0; steps < 20; steps++) {
    const response = await fetch(next.url, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(next.body && { method: "POST", body: next.body }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    const page = await response.text();
    const [, action] = /<form[^>]*action="([^"]+)"/.exec(page) ?? [];
    if (location) next = { url: new URL(location, next.url).href };
    else if (action) next = { url: new URL(action, next.url).href, body: fieldsOf(page) };
    else return response.status;
  }
  throw new Error("the sign-in never ended");
}

function fieldsOf(page: string): URLSearchParams {
  const fields = new URLSearchParams({ login: "me", password: "x" });
  for (const [, name = "", value = ""] of page.matchAll(/<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"/g))
    fields.set(name, value);
  return fields;
}
