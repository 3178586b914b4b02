import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createScriptedProvider, type Script, type ScriptedRequest } from "@octant/scripted-provider";
import { describe, expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { ended, startOctant } from "./octant-process.ts";
import { LAUNCHER } from "./published-command.ts";

const KEY = "sk-test-0123456789abcdef";
const hashIn = ({ results }: ScriptedRequest) => /\b[0-9a-f]{12}\b/.exec(results[0]?.text ?? "")?.[0];
const fs = (action: string, input: object) => ({ call: "fs", input: { action, ...input } });

type Kind = "ipc" | "exec";

/** A project, a server for its tools, and a folder elsewhere in which the loop runs. */
async function setUp(script: Script, kind: Kind = "ipc") {
  const project = createFixtureProject();
  const provider = await createScriptedProvider(script);
  const elsewhere = join(project.root, "..", "elsewhere");
  mkdirSync(elsewhere, { recursive: true });
  const env = {
    ...project.env,
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
  };
  const server = await (kind === "ipc" ? serve(project, elsewhere) : toCommand(project, elsewhere));
  const run = async (...args: string[]) => {
    const flags = ["--provider", "anthropic", "--model", "some-model"];
    const child = startOctant(["run", ...args, "--host", server.address, ...flags], { cwd: elsewhere, env });
    child.stdin.end();
    return ended(child);
  };
  return {
    project,
    provider,
    run,
    main: () => readFileSync(join(project.root, "src/main.ts"), "utf8"),
    restart: server.restart,
    async [Symbol.asyncDispose]() {
      await server.close();
      await provider.close();
      project[Symbol.dispose]();
    },
  };
}

/** A server that listens at a socket. */
async function serve({ root: cwd, env }: FixtureProject, elsewhere: string) {
  const address = `ipc://${join(elsewhere, "sockets", "host")}`;
  const start = async () => {
    const child = startOctant(["serve", "--zmq", address, "--json"], { cwd, env });
    await once(createInterface({ input: child.stdout }), "line");
    return child;
  };
  let server = await start();
  const end = async (signal: NodeJS.Signals) => {
    server.kill(signal);
    await once(server, "exit");
  };
  return {
    address,
    async restart() {
      await end("SIGKILL");
      server = await start();
    },
    close: () => end("SIGTERM"),
  };
}

/** A command that serves on its stdin and stdout; the client starts it, also again. */
async function toCommand({ root }: FixtureProject, elsewhere: string) {
  const pid = join(elsewhere, "pid");
  const words = [process.execPath, LAUNCHER, "serve", "--wire"].map((word) => `'${word}'`).join(" ");
  return {
    address: `exec:cd '${root}' && echo $$ > '${pid}' && exec ${words}`,
    restart: async () => process.kill(Number(readFileSync(pid, "utf8")), "SIGKILL"),
    close: async () => {},
  };
}

/** Reads a file, changes it with its hash, and runs a command. */
const EDIT: Script = (request) => {
  if (request.answers === 0) return { parts: [fs("read", { uri: "src/main.ts" })] };
  if (request.answers === 1)
    return {
      parts: [
        fs("apply_patch", {
          uri: "src/main.ts",
          base_hash: hashIn(request),
          patch: [{ op: "replace", old: "42", new: "43" }],
        }),
        { call: "proc", input: { action: "exec", command: "cat src/main.ts; env | grep -c API_KEY" } },
      ],
    };
  return { parts: [{ text: `It says ${/export.*/.exec(request.results[1]?.text ?? "")}` }] };
};

describe("octant run --host", () => {
  test("a mode of this side holds there, and commands that would act here are refused", async () => {
    await using place = await setUp(EDIT);
    const ran = await place.run("make it 43", "--allow", "*", "--mode", "inspect");
    expect(ran.code, ran.stderr).toBe(0);
    expect(place.main()).toContain("42");
    const refused = await place.run("/permissions deny fs.write");
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain("/permissions acts on this machine");
  });

  test.each<Kind>(["ipc", "exec"])(
    "runs the loop here and every tool there (%s), and an undo takes it back",
    async (kind) => {
      await using place = await setUp(EDIT, kind);
      const ran = await place.run("make it 43", "--allow", "*");
      expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: "It says export const answer = 43;\n" });
      expect(place.main()).toBe("export const answer = 43;\n");
      expect(place.provider.requests[2]?.results[1]?.text).toMatch(/^ *0$/m);
      expect(place.provider.requests[0]?.raw).toContain(place.project.root);
      const undone = await place.run("/undo", "--continue");
      expect(undone, undone.stderr).toMatchObject({ code: 0 });
      expect(undone.stdout).toContain("undone: make it 43");
      expect(place.main()).toBe("export const answer = 42;\n");
    },
  );

  test("asks nobody when nobody is there: the host's policy refuses what needs an approval", async () => {
    await using place = await setUp(EDIT);
    const ran = await place.run("make it 43");
    expect(ran.code, ran.stderr).toBe(5);
    expect(place.main()).toBe("export const answer = 42;\n");
    expect(place.provider.requests[2]?.results[0]?.text).toContain("APPROVAL_REQUIRED");
  });

  test.each<Kind>(["ipc", "exec"])(
    "goes on when the host (%s) is killed and restarted in the middle; the running call was interrupted",
    async (kind) => {
      const script: Script = (request) => {
        if (request.answers === 0)
          return { parts: [{ call: "proc", input: { action: "exec", command: "touch began; sleep 60" } }] };
        if (request.answers === 1) return { parts: [fs("read", { uri: "src/main.ts" })] };
        if (request.answers === 2)
          return {
            parts: [
              fs("apply_patch", {
                uri: "src/main.ts",
                base_hash: hashIn(request),
                patch: [{ op: "replace", old: "42", new: "43" }],
              }),
            ],
          };
        return { parts: [{ text: request.results[0]?.text.split("\n")[0] ?? "" }] };
      };
      await using place = await setUp(script, kind);
      const running = place.run("go", "--allow", "*");
      const began = join(place.project.root, "began");
      await expect.poll(() => exists(began), { timeout: 30_000 }).toBe(true);
      await place.restart();
      const ran = await running;
      expect(place.provider.requests[1]?.results[0]?.text).toContain("INTERRUPTED");
      expect(ran.code, ran.stderr).toBe(0);
      expect(ran.stderr).toContain("the host of the tools was restarted");
      expect(place.main()).toBe("export const answer = 43;\n");
    },
  );

  test("makes the worktree of a sub-agent there, and merges it", async () => {
    const script: Script = (request) => {
      if (request.raw.includes("# Role"))
        return request.answers === 0
          ? { parts: [fs("write", { uri: "two.txt", content: "two\n" })] }
          : { parts: [{ text: "done" }] };
      if (request.answers === 0)
        return {
          parts: [
            {
              call: "agent",
              input: { action: "spawn", role: "code", task: "write two.txt", worktree: true },
            },
          ],
        };
      return { parts: [{ text: request.results[0]?.text ?? "" }] };
    };
    await using place = await setUp(script);
    const { root } = place.project;
    execFileSync("git", ["stash", "--quiet", "--include-untracked"], { cwd: root, env: place.project.env });
    const ran = await place.run("use a helper", "--allow", "*");
    expect(ran.code, ran.stderr).toBe(0);
    expect(readFileSync(join(root, "two.txt"), "utf8"), ran.stdout).toBe("two\n");
  });
});

function exists(file: string): boolean {
  try {
    readFileSync(file);
    return true;
  } catch {
    return false;
  }
}
