import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createOctant } from "../packages/app/src/octant.ts";

/** Commands have a temp folder of their own, so this is not in one. */
const cache = join(import.meta.dirname, "../node_modules/.cache");
mkdirSync(cache, { recursive: true });
const base = realpathSync(mkdtempSync(join(cache, "secrets-")));
const home = join(base, "home");
const CANARY = "canary-of-a-key";
const SECRETS = [".ssh/id_ed25519", ".netrc", ".aws/credentials", ".config/hanzo/settings.json"];
const HARD_LINK = "project/linked";
const env = { PATH: process.env["PATH"], HOME: home, XDG_STATE_HOME: join(base, "elsewhere/state") };

beforeAll(() => {
  for (const path of [...SECRETS, "project/main.ts", "certificates/own.pem", ".certificates/ca.pem"]) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    const isSecret = SECRETS.includes(path);
    writeFileSync(join(home, path), isSecret && path.endsWith(".json") ? `{} // ${CANARY}` : `${CANARY}\n`);
  }
  writeFileSync(join(home, "project/main.ts"), "export const visible = 1;\n");
  linkSync(join(home, ".ssh/id_ed25519"), join(home, HARD_LINK));
  execFileSync("git", ["init", "--quiet", home]);
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** The calls that could show a file, each for every secret. */
const CALLS = [...SECRETS, HARD_LINK].flatMap((path) =>
  (
    [
      ["fs.read", { uri: path }],
      ["fs.stat", { uri: path }],
      ["fs.diff", { uri: path, hash_a: `sha256:${"0".repeat(64)}` }],
      ["fs.search_text", { pattern: CANARY, uri: path }],
      ["code.outline", { uri: path }],
      ["code.search_ast", { pattern: "$A", uri: path, language: "bash" }],
      ["vcs.diff", { uri: path }],
      ["vcs.blame", { uri: path }],
      ["net.request", { url: "http://127.0.0.1:9/", method: "POST", upload: path }],
      ["proc.exec", { command: ["cat", path] }],
    ] as const
  ).map(([name, input]) => ({ name, path, input })),
);

test.skipIf(process.env["OCTANT_TEST_LEVEL"] === "path_check")(
  "with the home as root, no tool shows what commands cannot see",
  async () => {
    await using octant = createOctant({ roots: [home], env });
    const call = async (name: string, input: Record<string, unknown>) => {
      const [tool = "", action = ""] = name.split(".");
      const caller = { id: "test", access: "admin" as const };
      return JSON.stringify(await octant.dispatch({ tool, action, input }, { caller }));
    };
    expect(await call("fs.read", { uri: "project/main.ts" })).toContain("visible");
    for (const { name, path, input } of CALLS)
      expect(await call(name, input), `${name} ${path}`).not.toContain(CANARY);
    const all = [
      ["fs.search_text", { pattern: "canary", include_ignored: true }],
      ["search.query", { query: CANARY }],
      ["vcs.diff", {}],
      ["proc.exec", { command: `grep -rs ${CANARY} . ${base}; ls -A ${base}/elsewhere/state/octant` }],
    ] as const;
    for (const [name, input] of all) {
      const answer = await call(name, input);
      // git lists untracked names; it sees nothing in them.
      if (name !== "vcs.diff")
        for (const path of [...SECRETS, HARD_LINK]) expect(answer, name).not.toContain(path);
      // The state of a workspace.
      expect(answer).not.toMatch(/home-[0-9a-f]{16}/);
    }
    const read = await octant.dispatch(
      { tool: "fs", action: "read", input: { uri: ".netrc" } },
      { caller: { id: "test", access: "admin" } },
    );
    expect(read.envelope).toMatchObject({
      ok: false,
      error: { code: "OUTSIDE_WORKSPACE", message: expect.stringContaining("secrets of this user") },
    });
  },
);

test("named certificates reach commands, wherever they are", async () => {
  const named = {
    PIP_CERT: join(home, ".certificates/ca.pem"),
    CARGO_HTTP_CAINFO: join(home, "certificates/own.pem"),
  };
  await using octant = createOctant({ roots: [join(home, "project")], env: { ...env, ...named } });
  const { stdout } = await octant.client.proc.exec({ command: "cat $PIP_CERT $CARGO_HTTP_CAINFO" });
  expect(stdout).toBe(`${CANARY}\n${CANARY}\n`);
});

test.skipIf(process.env["OCTANT_TEST_LEVEL"] === "path_check")(
  "a socket of another server is reachable only from the project that it is in",
  async () => {
    const open = async (path: string) => {
      const server = createServer((socket) => socket.end("reached"));
      server.listen(path);
      await once(server, "listening");
      return server;
    };
    mkdirSync(join(home, "run"), { recursive: true });
    const servers = [await open(join(home, "run/s")), await open(join(home, "project/s"))];
    try {
      await using octant = createOctant({ roots: [join(home, "project")], env });
      const connect = async (path: string) => {
        const script = `require("net").connect(${JSON.stringify(join(home, path))}).on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code))`;
        return (await octant.client.proc.exec({ command: [process.execPath, "-e", script] })).stdout;
      };
      expect(await connect("run/s")).toBe("ECONNREFUSED\n");
      expect(await connect("project/s")).toBe("reached\n");
    } finally {
      for (const server of servers) server.close();
    }
  },
);
