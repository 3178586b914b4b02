import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { action, createCursors, createDispatcher, createRegistry, defineTool, ToolError } from "@octant/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { findCanaries } from "../../testing/redact/canaries.ts";
import { collectSecrets, isSecretName } from "./collect-secrets.ts";
import { createRedactor, REDACTED, redactErrors } from "./redactor.ts";

const anySecret = fc.string({ minLength: 8, maxLength: 40, unit: "binary" });
const SECRET = 'c4n4ry-Wert/mit+Ümlaut & "quotes"';

test("a secret planted anywhere is never returned, whatever surrounds it", () => {
  fc.assert(
    fc.property(
      anySecret,
      anySecret,
      fc.string({ unit: "binary" }),
      fc.string({ unit: "binary" }),
      (one, two, before, after) => {
        const redact = createRedactor({ secrets: [one, two] });
        const shown = redact(`${before}${one}${two}${after}${two}${one}`);
        expect(shown.includes(one) || shown.includes(two)).toBe(false);
      },
    ),
  );
});

test("secrets that overlap leave no part of either", () => {
  const redact = createRedactor({ secrets: ["alpha-beta", "beta-gamma", "abababab"] });
  expect(redact("<alpha-beta-gamma>")).toBe(`<${REDACTED}>`);
  expect(redact("<ababababab>")).toBe(`<${REDACTED}>`);
});

test("a secret is found in base64 at any place, in URLs, in JSON", () => {
  const redact = createRedactor({ secrets: [SECRET] });
  const core = Buffer.from(SECRET).toString("base64").slice(4, -4);
  for (const before of ["", "u", "us", "usr"]) {
    const bytes = Buffer.from(`${before}:${SECRET}:after`);
    for (const encoding of ["base64", "base64url"] as const) {
      const shown = redact(`data ${bytes.toString(encoding)} end`);
      expect(shown).toContain(REDACTED);
      expect(shown).not.toContain(core);
    }
  }
  expect(redact(`https://x.test/?q=${encodeURIComponent(SECRET)}&n=1`)).toBe(
    `https://x.test/?q=${REDACTED}&n=1`,
  );
  expect(redact(JSON.stringify({ it: SECRET }))).toBe(`{"it":"${REDACTED}"}`);
});

test.each([
  ["Authorization: Basic dXNlcjpwYXNz", `Authorization: ${REDACTED}`],
  ["curl -H 'bearer abcdef0123456789'", `curl -H 'bearer ${REDACTED}'`],
  [`key sk-proj-${"a1B2".repeat(6)} ok`, `key ${REDACTED} ok`],
  ["ghp_0123456789abcdefghijABCDEFGHIJ012345", REDACTED],
  ["github_pat_0123456789abcdefghij_ABCDEFGHIJ", REDACTED],
  ["id AKIAIOSFODNN7EXAMPLE.", `id ${REDACTED}.`],
  ["xoxb-123456789012-abcdefghijkl", REDACTED],
  ["a eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4 b", `a ${REDACTED} b`],
  ["postgres://me:p@ss:w0rd@db.test:5432/x", `postgres://me:${REDACTED}@db.test:5432/x`],
  [
    "a URL with ?token=required1 and ?token=optional/x",
    `a URL with ?token=${REDACTED} and ?token=${REDACTED}`,
  ],
  [
    "http://127.0.0.1:1/console/open?code=YBvCZPzcGgKHN7gnx_eE3TdqpYfiNjntsDtSv_J8pn8",
    `http://127.0.0.1:1/console/open?code=${REDACTED}`,
  ],
  ["DB_PASSWORD=hunter2 next", `DB_PASSWORD=${REDACTED} next`],
  ['{"password": "hun\\"ter2", "n": 1}', `{"password": "${REDACTED}", "n": 1}`],
  ["-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest", `${REDACTED}\nrest`],
  ["-----BEGIN PRIVATE KEY-----\nMIIE cut off", REDACTED],
])("what looks like a secret is taken out: %s", (text, shown) => {
  const redact = createRedactor({ secrets: [] });
  expect(redact(text)).toBe(shown);
  expect(redact(shown)).toBe(shown);
});

test.each([
  "Basic authentication failed for bearer certificates",
  "https://example.com:8080/a?b=c@d and git@github.com:octant/octant.git",
  "the password must have 8 characters; see sk-learn-extension-helpers",
  "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "trace 4bf92f3577b34da6a3ce929d0e0e4736 in src/token.ts:12",
  "expected { key: string, token_count: number }",
  "the callback needs ?token=required&api_key=optional, and (?secret=none).",
])("a text without a secret stays unchanged: %s", (text) => {
  expect(createRedactor({ secrets: ["short", "another-secret"] })(text)).toBe(text);
});

test("a text without secrets is unchanged", () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{0,12}[ .,()/\n-]$/), { maxLength: 60 });
  const redact = createRedactor({ secrets: ["SECRET-VALUE-1", "0123456789"] });
  fc.assert(
    fc.property(words, (parts) => {
      expect(redact(parts.join(""))).toBe(parts.join(""));
    }),
  );
});

/** Beginnings of shapes that never become one, which make a backtracking search slow. */
test.each([
  "-eyJ",
  "eyJaaaaaaaaaaaa.",
  "sk-",
  "://a:",
  "bearer ",
  '"password',
  '"password":"\\',
  "-----BEGIN PRIVATE KEY----- ",
  "-----BEGIN A ",
  "password=",
  "xoxb-",
  "a",
])("time grows with the length of the text only: %s", (part) => {
  const redact = createRedactor({ secrets: [`${part.repeat(40)}!`] });
  const long = part.repeat(Math.ceil(2_000_000 / part.length));
  const started = process.threadCpuUsage();
  redact(long);
  // Quadratic time would be minutes.
  expect(process.threadCpuUsage(started).user).toBeLessThan(5_000_000);
});

test("values are secret by their names", () => {
  const secrets = collectSecrets(
    { GITHUB_TOKEN: "env-token", PATH: "/usr/bin", PWD: "/home/me", SSH_KEY_FILE: "/home/me/key" },
    {
      api_key: "the-api-key",
      oauth_credentials: { access: { value: "oauth-one" }, list: ["oauth-two"], expires: 7 },
      env: { DB_PASSWORD: "db-pass", EDITOR: "vi" },
      mcp_servers: { x: { env: { apiKey: "x-key" }, headers: { "X-Custom": "Bearer h-token" } }, y: {} },
    },
  );
  expect(secrets).toEqual([
    "env-token",
    "db-pass",
    "the-api-key",
    "oauth-one",
    "oauth-two",
    "x-key",
    "Bearer h-token",
    "h-token",
  ]);
  for (const name of ["Authorization", "client_secret", "awsSecretAccessKey", "NPM_TOKEN", "PASSWORD"])
    expect(isSecretName(name), name).toBe(true);
  for (const name of ["KEYBOARD", "PWD", "tokenizer", "monkey", "MAX_RETRIES", "passive"])
    expect(isSecretName(name), name).toBe(false);
});

test("canaries are found in files of folders, plain and encoded", () => {
  const folder = mkdtempSync(join(tmpdir(), "octant-canaries-"));
  try {
    mkdirSync(join(folder, "deep"));
    writeFileSync(join(folder, "clean"), "nothing");
    writeFileSync(join(folder, "deep", "log"), `12345${SECRET}`);
    writeFileSync(join(folder, "encoded"), Buffer.from(`me:${SECRET}`).toString("base64"));
    const found = findCanaries([folder, join(folder, "missing")], [SECRET, "not-planted"]);
    expect(found.map(({ file, canary }) => [file, canary])).toEqual([
      [join(folder, "deep", "log"), SECRET],
      [join(folder, "encoded"), SECRET],
    ]);
    expect(found[0]?.offset).toBe(5);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the message of a failure reaches the caller without the secret", async () => {
  const box = defineTool({
    name: "box",
    summary: "A box.",
    actions: {
      open: action({
        summary: "Open it.",
        access: "read",
        timing: "sync",
        intent: "inspect",
        input: z.strictObject({}),
        output: z.object({}),
        examples: [{ title: "Open it", input: {} }],
        run() {
          throw new ToolError("EXEC_FAILED", `the key ${SECRET} does not fit`, { program: "key" });
        },
      }),
    },
  });
  const dispatch = createDispatcher({
    registry: createRegistry([box]),
    cursors: createCursors(Buffer.alloc(32)),
    policy: [redactErrors(createRedactor({ secrets: [SECRET] }))],
    onBug: ({ cause }) => expect.fail(String(cause)),
  });
  const call = { tool: "box", action: "open", input: {} };
  const { envelope } = await dispatch(call, { caller: { id: "me", access: "admin" } });
  expect(envelope.error).toEqual({
    code: "EXEC_FAILED",
    message: `the key ${REDACTED} does not fit`,
    details: { program: "key" },
  });
});
