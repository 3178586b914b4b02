import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FindOpener } from "@octant/host";
import { afterAll, expect, test } from "vitest";
import { createNetWorkspace, REMOTE } from "../../testing/net/net-workspace.ts";

const base = mkdtempSync(join(tmpdir(), "octant-open-"));
afterAll(() => rmSync(base, { recursive: true }));

/** A desktop whose xdg-open records its arguments. */
function createDesktop(name: string, exitCode = 0) {
  const folder = join(base, name);
  mkdirSync(folder);
  const seen = join(folder, "seen");
  const program = join(folder, "xdg-open");
  writeFileSync(
    program,
    `#!/bin/sh\nfor a in "$@"; do echo "$a"; done > ${seen}\nenv >> ${seen}\nexit ${exitCode}\n`,
  );
  chmodSync(program, 0o755);
  const env = { PATH: `relative:${folder}:/usr/bin:/bin`, DISPLAY: ":0", API_KEY: "CANARY" };
  // A program that only the test trusts.
  const find = ((opener: string) => join(folder, opener)) as FindOpener;
  return { env, find, read: () => (existsSync(seen) ? readFileSync(seen, "utf8") : "") };
}

test("a page is passed to the desktop as one argument, as a normalised URL, without our environment", async () => {
  const desktop = createDesktop("good");
  const ws = createNetWorkspace({}, desktop.env, undefined, desktop.find);
  const url = "HTTP://Example.com/a b;touch pwned`id`?q=$(id)&x='";
  expect(await ws.ok("open", { url })).toEqual({
    url: "http://example.com/a%20b;touch%20pwned%60id%60?q=$(id)&x=%27",
    program: "xdg-open",
  });
  const [first, ...env] = desktop.read().split("\n");
  expect(first).toBe("http://example.com/a%20b;touch%20pwned%60id%60?q=$(id)&x=%27");
  expect(env.join("\n")).not.toContain("CANARY");
  expect(env).toContain("DISPLAY=:0");
  // The opener starts its helpers by name, so its PATH must not contain a project folder.
  expect(env.find((line) => line.startsWith("PATH="))).not.toContain(base);
  await ws.close();
});

test("only http and https are opened, nothing that is blocked, and no credentials", async () => {
  const desktop = createDesktop("strict");
  const ws = createNetWorkspace({ policy: { deny: ["*.evil.test"] } }, desktop.env, undefined, desktop.find);
  for (const url of ["file:///etc/passwd", "javascript:alert(1)", "-h", "--help", "vscode://x", "mailto:a@b"])
    expect((await ws.fail("open", { url })).code, url).toBe("INVALID_ARGUMENT");
  for (const url of ["http://169.254.169.254/", "http://a.evil.test/"])
    expect((await ws.fail("open", { url })).code, url).toBe("NET_BLOCKED");
  expect(desktop.read()).toBe("");
  expect((await ws.ok("open", { url: "http://user:CANARY@localhost:3000/" })).url).toBe(
    "http://localhost:3000/",
  );
  expect(desktop.read()).not.toContain("CANARY");
  await ws.close();
});

test("a missing desktop or a remote caller is refused, and a failing program is reported", async () => {
  const none = createNetWorkspace({}, { PATH: "/usr/bin:/bin" });
  expect(await none.fail("open", { url: "http://localhost/" })).toMatchObject({ code: "UNSUPPORTED" });
  await none.close();
  const desktop = createDesktop("failing", 3);
  const ws = createNetWorkspace({}, desktop.env, undefined, desktop.find);
  expect(await ws.fail("open", { url: "http://localhost/" }, { caller: REMOTE })).toMatchObject({
    code: "UNSUPPORTED",
  });
  expect(desktop.read()).toBe("");
  expect(await ws.fail("open", { url: "http://localhost/" })).toMatchObject({
    code: "EXEC_FAILED",
    details: { program: "xdg-open" },
  });
  await ws.close();
});
