import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { git } from "../packages/hub/testing/open-hub.ts";
import { createTestDevice } from "../packages/terminal/src/testing/device.ts";
import { createFixtureProject } from "../test/fixture-project.ts";
import { runOctant, startOctant } from "../test/octant-process.ts";
import { shoot } from "./terminal-picture.ts";

const LAUNCHER = join(import.meta.dirname, "../packages/cli/bin/octant.js");
const COLUMNS = 100;
const ROWS = 60;
const BOLD_PROMPT = "\u001b[1m$ ";
const PLAIN = "\u001b[0m";

const FILES = {
  "package.json": '{ "name": "calculator", "type": "module", "scripts": { "test": "node --test" } }\n',
  "add.js": "export const add = (a, b) => a - b;\n",
  "add.test.js":
    'import assert from "node:assert";\nimport { test } from "node:test";\nimport { add } from "./add.js";\n\ntest("adds", () => assert.equal(add(2, 3), 5));\n',
};

const use = (call: string, input: object) => ({ parts: [{ call, input }] });
/** Runs the failing test, reads the file, mends it, and runs the test again. */
const MODEL: Script = ({ answers }) =>
  [
    use("proc", { action: "exec", command: ["node", "--test"] }),
    use("fs", { action: "read", uri: "add.js" }),
    use("fs", { action: "edit", uri: "add.js", old_string: "a - b", new_string: "a + b" }),
    use("proc", { action: "exec", command: ["node", "--test"] }),
  ][answers % 5] ?? { parts: [{ text: "`add` subtracted. It adds now, and the test passes." }] };

/** Draws docs/pictures/hub-*.png: a day with a hub, by the real commands. Fails when the story does not hold. */
export async function drawHub(): Promise<void> {
  using project = createFixtureProject();
  const work = mkdtempSync(join(tmpdir(), "octant-hub-pictures-"));
  await using provider = await createScriptedProvider(MODEL);
  const remote = await serveGit(work);
  const env = {
    ...project.env,
    ANTHROPIC_API_KEY: "sk-demo-0123456789abcdef",
    ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
  };
  // On the path, as after an installation.
  const programs = join(work, "bin");
  mkdirSync(programs);
  symlinkSync(LAUNCHER, join(programs, "octant"));
  const at = {
    cwd: project.root,
    env: { ...env, PATH: `${programs}:${process.env["PATH"]}` },
    launcher: LAUNCHER,
  };
  const hub = startOctant(["hub", "--engine", "local", "--port", "7320"], at);
  try {
    const greeting: string[] = [];
    for await (const line of createInterface({ input: hub.stdout })) {
      greeting.push(line);
      if (line.startsWith("Ctrl-C")) break;
    }
    await draw("hub-start", `${BOLD_PROMPT}octant hub --engine local${PLAIN}\n${greeting.join("\n")}`, work);
    const [, url = ""] = /^Octant hub: (.*)$/m.exec(greeting.join("\n")) ?? [];
    const [, token = ""] = /^Token: (.*)$/m.exec(greeting.join("\n")) ?? [];
    let screen = "";
    /** Runs a call as a person types it, and shows it with its answer. */
    const call = async (line: string, as = token): Promise<string> => {
      const args = ["call", "--via", url, ...splitWords(line)];
      const { stdout, stderr, code } = await runOctant(args, {
        ...at,
        env: { ...at.env, OCTANT_TOKEN: as },
      });
      if (code !== 0) throw new Error(`${line}: ${stderr}`);
      screen += `${BOLD_PROMPT}octant call --via $HUB ${shorten(line)}${PLAIN}\n${stdout.trimEnd()}\n${stderr.trimEnd()}\n`;
      return `${stdout}\n${stderr}`;
    };
    /** A person keeps ids in variables of the shell. */
    const known = new Map<string, string>();
    const shorten = (line: string) =>
      [...known].reduce((text, [id, name]) => text.replaceAll(id, `$${name}`), line);
    const idIn = (text: string, kind: string) => new RegExp(`${kind}_[a-z0-9]+`).exec(text)?.[0] ?? "";

    const project_id = idIn(await call(`project.create name=calculator source_url=${remote.url}`), "project");
    known.set(project_id, "PROJECT");
    const spawned = await call(
      `session.spawn project_id=${project_id} model=claude-sonnet-5-5 message="Make npm test pass."`,
    );
    const session_id = idIn(spawned, "ses");
    const workspace_id = idIn(spawned, "workspace");
    known.set(session_id, "SESSION").set(workspace_id, "WORKSPACE");
    await draw("hub-session", screen, work);
    screen = "";
    await call(`session.events session_id=${session_id} until=idle wait=600000 since_index=9999`);
    screen = "";
    await call(`session.get session_id=${session_id}`);
    await call(`workspace.diff workspace_id=${workspace_id}`);
    await call(`workspace.merge workspace_id=${workspace_id}`);
    await draw("hub-merge", screen, work);
    if (!git(remote.place, "show", "main:add.js").includes("a + b"))
      throw new Error("the fix was not merged");
    screen = "";
    await call(
      `schedule.create project_id=${project_id} name=nightly cron="30 2 * * 1-5" time_zone=Europe/Berlin message="Update the dependencies and make the tests pass."`,
    );
    const made = await call(`token.create name=bob scope=project:${project_id}`);
    const [, colleague = ""] = /(oct_[0-9a-f]+_[\w-]+)/.exec(made) ?? [];
    screen = screen.replaceAll(colleague, `${colleague.slice(0, 12)}…`);
    screen = `${screen.trimEnd()}\n\n# Bob, with his token\n`;
    await call(`session.list project_id=${project_id}`, colleague);
    await draw("hub-colleague", screen, work);
  } finally {
    hub.kill("SIGTERM");
    await once(hub, "close");
    remote.close();
    rmSync(work, { recursive: true, force: true });
  }
}

async function draw(name: string, text: string, work: string): Promise<void> {
  const device = createTestDevice(COLUMNS, ROWS);
  device.write(text.trimEnd().replaceAll(/\r?\n/g, "\r\n"));
  await shoot(name, device, "dark", work);
  process.stdout.write(`${name}\n`);
}

/** Words as a shell splits them, with double quotes. */
const splitWords = (line: string): string[] =>
  (line.match(/(?:[^\s"]|"[^"]*")+/g) ?? []).map((word) => word.replaceAll('"', ""));

/** A repository with a failing test, served by git's own daemon. */
async function serveGit(work: string) {
  const source = join(work, "source");
  const place = join(work, "served", "calculator.git");
  mkdirSync(source);
  mkdirSync(join(work, "served"));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(source, name), text);
  git(source, "init", "-q", "-b", "main");
  git(source, "add", "-A");
  git(source, "commit", "-qm", "A calculator");
  git(work, "clone", "-q", "--bare", source, place);
  const port = await freePort();
  const daemon = spawn("git", [
    ...["daemon", "--reuseaddr", "--export-all", "--enable=receive-pack", "--listen=127.0.0.1"],
    ...[`--port=${port}`, `--base-path=${join(work, "served")}`],
  ]);
  await listening(port);
  return { place, url: `git://127.0.0.1:${port}/calculator.git`, close: () => daemon.kill() };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}

async function listening(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
