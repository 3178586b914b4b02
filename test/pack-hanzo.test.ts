import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openOctant } from "@octant/app";
import { type Question, SESSION_MODES } from "@octant/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NO_DESCRIPTION, openHanzoService } from "../packs/hanzo/testing/hanzo-service.ts";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { runOctant } from "./octant-process.ts";

const PACK = join(import.meta.dirname, "../packs/hanzo");
const KEY = "sk-hanzo-e2e-0123456789abcdef";

let project: FixtureProject;
let home: string;
beforeAll(() => {
  project = createFixtureProject();
  home = String(project.env["HOME"]);
});
afterAll(() => project[Symbol.dispose]());

const octant = (...args: readonly string[]) => runOctant(args, { cwd: project.root, env: project.env });
const settingsFile = () => join(home, ".config/hanzo/settings.json");

function configure(base_url: string): void {
  const settings = { packs: { hanzo: { from: PACK, settings: { base_url } } } };
  mkdirSync(join(home, ".config/hanzo"), { recursive: true });
  writeFileSync(settingsFile(), JSON.stringify(settings), { mode: 0o600 });
}

/** Every file that Octant has written in the home, besides the store of credentials. */
const written = () =>
  readdirSync(home, { recursive: true, encoding: "utf8" })
    .filter((path) => !path.endsWith("credentials.json"))
    .map((path) => join(home, path))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());

test("login, add, call: the sign-in reaches the server, and nothing else has it", async () => {
  await using service = await openHanzoService(
    [
      { request: "GET /v1/models", answer: { data: [] } },
      NO_DESCRIPTION,
      { request: "GET /v1/user", answer: { id: "ada", token: KEY } },
      NO_DESCRIPTION,
      { request: "PATCH /v1/apps/shop", body: { replicas: 3 }, status: 400, answer: { error: `no, ${KEY}` } },
    ],
    [KEY],
  );
  const signedIn = await callOctant(["login", "hanzo"], {
    cwd: project.root,
    env: { ...project.env, HANZO_BASE_URL: service.base_url },
    input: `${KEY}\n`,
  });
  expect(signedIn).toMatchObject({ code: 0 });
  configure(service.base_url);
  const added = await octant("pack", "add", PACK, "--yes");
  expect(added.stdout).toContain(
    "may see no files of the workspace; reach api.hanzo.ai, the host of your setting base_url; start no programs; act with your sign-in to hanzo",
  );
  const who = await octant("call", "hanzo.auth", "operation=whoami", "--json");
  expect(JSON.parse(who.stdout)).toMatchObject({ ok: true, data: { status: 200, data: { id: "ada" } } });
  const scaled = await octant(
    "call",
    "hanzo.deploy",
    "operation=scale_app",
    'parameters={"app":"shop","replicas":3}',
  );
  expect(scaled).toMatchObject({ code: 1, stderr: expect.stringContaining("UPSTREAM_ERROR") });
  expect(service).toMatchObject({ waiting: [], unexpected: [] });
  for (const { stdout, stderr } of [signedIn, added, who, scaled]) expect(stdout + stderr).not.toContain(KEY);
  const files = written();
  expect(files.length).toBeGreaterThan(3);
  for (const file of files) expect(readFileSync(file).includes(KEY), file).toBe(false);
});

test("every change asks in every mode, and nothing is sent without a yes; a yes to reading covers reading", async () => {
  const asked: Question[] = [];
  const LIST = { request: "GET /v1/nodes", answer: [] } as const;
  await using service = await openHanzoService([NO_DESCRIPTION, LIST, LIST], [KEY]);
  configure(service.base_url);
  await using opened = await openOctant({
    projectPath: project.root,
    env: project.env,
    packs: [PACK],
    tools: ["job"],
    permissions: "enforce",
    switchesModes: true,
  });
  const call = async (mode: (typeof SESSION_MODES)[number], action: string, input: object) => {
    const id = `session-${mode}`;
    opened.modes.setSession(id, mode);
    const { envelope } = await opened.dispatch(
      { tool: "hanzo", action, input },
      {
        caller: { id, access: "admin" },
        ask: async (question) => {
          asked.push(question);
          return { answer: action === "cloud" ? "session" : "deny" };
        },
      },
    );
    return envelope;
  };
  for (const expected of [1, 1]) {
    const read = await call("ask", "cloud", { operation: "list_nodes" });
    expect(read).toMatchObject({ ok: true, data: { data: [] } });
    expect(asked.length).toBe(expected);
  }
  for (const mode of SESSION_MODES)
    for (const action of ["deploy", "node"]) {
      asked.length = 0;
      const { error } = await call(mode, action, { operation: "delete_node", parameters: { node: "n1" } });
      expect(error?.code, `${mode} ${action}`).toBe("PERMISSION_DENIED");
      expect(asked.length, `${mode} ${action}`).toBe(mode === "plan" ? 0 : 1);
    }
  expect(service).toMatchObject({ waiting: [], unexpected: [] });
});
