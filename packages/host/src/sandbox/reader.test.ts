import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { listProcesses } from "../processes/process-table.ts";
import { openStateFolder } from "../state.ts";
import { createSandbox } from "./create-sandbox.ts";
import type { Reader, ReaderCommand, Sandbox } from "./sandbox.ts";
import { DEFAULT_SANDBOX } from "./settings.ts";
import { ESCAPE_PROBES } from "./testing/escape-probes.ts";
import { ESCAPED, toArgv } from "./testing/probe.ts";
import { processesWith } from "./testing/processes-with.ts";
import { createWorld, identities } from "./testing/world.ts";

const sandboxed = test.skipIf(inject("missing").includes("bubblewrap"));

const LOOKS = `cat README ~/notes.txt; tail -n +3 /proc/net/dev | cut -d: -f1; env | grep -c CANARY
for place in . /tmp ~ ~/.npm "$OUTSIDE"; do { true >"$place/planted"; } 2>/dev/null && echo "wrote to $place"; done
cat ~/.ssh/id_ed25519 2>/dev/null; exit 3`;

sandboxed.each(
  identities().flatMap((who) => [
    { ...who, ...{ level: undefined, reached: "bubblewrap" } },
    { ...who, ...{ level: "unshare" as const, reached: "unshare" } },
  ]),
)(
  "a reader sees the workspace, and can neither write nor reach anything, as $name in $reached",
  async ({ uid, level, reached }) => {
    await using world = await createWorld(uid);
    // Some of them target the launcher's variables, and use names that no shell accepts.
    const probes = level ? [] : ESCAPE_PROBES.filter(({ env }) => env === undefined);
    const report = await world.run({
      settings: DEFAULT_SANDBOX,
      ...(level && { level }),
      commands: [["/bin/sh", "-c", LOOKS] as const, ...probes.map(toArgv)].map((argv) => ({
        argv: argv as [string, ...string[]],
        reads: true,
      })),
    });
    const [looked, ...attempts] = report.outcomes;
    expect(report.level).toBe(reached);
    expect(looked).toMatchObject({ code: 3, stdout: expect.stringMatching(/^hello\nplain\n( *lo\n)?0\n$/) });
    const escaped = probes.filter((_, n) => attempts[n]!.stdout.includes(ESCAPED)).map(({ name }) => name);
    expect(escaped).toEqual([]);
  },
  60_000,
);

let base: string;
let root: string;
let sandbox: Sandbox;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-reader-")));
  root = join(base, "root");
  for (const path of [root, join(base, "home")]) mkdirSync(path);
  sandbox = openSandbox();
});
afterEach(async () => {
  await sandbox.close();
  rmSync(base, { recursive: true });
});

function openSandbox(): Sandbox {
  const env = { HOME: join(base, "home"), XDG_STATE_HOME: join(base, "state") };
  const state = openStateFolder({ roots: [root], env, warn: () => {} });
  return createSandbox({ roots: [root], settings: DEFAULT_SANDBOX, env, state });
}

async function open(besides: readonly string[] = []): Promise<Reader> {
  const reader = await sandbox.openReader(besides);
  if (!reader) throw new Error("this machine has no sandbox that works");
  return reader;
}

function start(reader: Reader, argv: readonly string[], more: Partial<ReaderCommand> = {}) {
  const chunks: Record<"stdout" | "stderr", Buffer[]> = { stdout: [], stderr: [] };
  const command = { argv, folder: root, env: { PATH: "/usr/bin:/bin" }, input: new Uint8Array(), ...more };
  const { ended, end } = reader.start(command, (stream, bytes) => chunks[stream].push(bytes));
  const done = ended.then((code) => ({
    code,
    stdout: Buffer.concat(chunks.stdout),
    stderr: Buffer.concat(chunks.stderr).toString(),
  }));
  return { done, end, seen: () => Buffer.concat(chunks.stdout).toString() };
}

const run = (reader: Reader, ...given: Parameters<typeof start> extends [Reader, ...infer R] ? R : never) =>
  start(reader, ...given).done;

sandboxed(
  "input, output, arguments, variables and exit codes pass as they are, however many run at once",
  async () => {
    const reader = await open();
    const odd = 'it\'s "$(touch x)" `id`\n\\ \u0081\u0088 😀';
    const input = Buffer.alloc(3_000_000, "0123456789");
    const all = await Promise.all([
      run(reader, ["/bin/cat"], { input }),
      run(reader, ["/usr/bin/printf", "%s", odd]),
      run(reader, ["/bin/sh", "-c", 'printf %s "$ODD"; echo oops >&2; exit 7'], { env: { ODD: odd } }),
      ...Array.from({ length: 20 }, (_, n) => run(reader, ["/bin/echo", String(n)])),
    ]);
    expect(all[0]!.stdout.equals(input)).toBe(true);
    expect(all[1]!.stdout.toString()).toBe(odd);
    expect({ ...all[2], stdout: all[2]!.stdout.toString() }).toEqual({
      code: 7,
      stdout: odd,
      stderr: "oops\n",
    });
    expect(all.slice(3).map(({ stdout }) => Number(stdout))).toEqual(Array.from({ length: 20 }, (_, n) => n));
  },
);

sandboxed("to end a program ends what it has started, and leaves the others", async () => {
  const reader = await open();
  const other = start(reader, ["/bin/cat", "/dev/zero"]);
  const stubborn = start(reader, ["/bin/sh", "-c", "trap '' TERM; sleep 600 & echo ready; wait; wait"]);
  await expect.poll(stubborn.seen).toBe("ready\n");
  stubborn.end();
  const early = start(reader, ["/bin/sleep", "600"]);
  early.end();
  expect([(await stubborn.done).code, (await early.done).code]).toEqual([137, 143]);
  expect((await run(reader, ["/bin/sh", "-c", "ps ax | grep -c '[s]leep 600'"])).stdout.toString()).toBe(
    "0\n",
  );
  other.end();
  await other.done;
});

sandboxed(
  "what is made in the workspace later is there; a place elsewhere is there when it is asked for",
  async () => {
    const reader = await open();
    mkdirSync(join(root, "later"));
    writeFileSync(join(root, "later/file"), "later\n");
    expect((await run(reader, ["/bin/cat", "later/file"])).stdout.toString()).toBe("later\n");
    const elsewhere = join(base, "elsewhere");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, "file"), "there\n");
    const lookThere = ["/bin/sh", "-c", `cat ${elsewhere}/file && : >${elsewhere}/planted`];
    expect(await run(reader, lookThere)).toMatchObject({ code: 1 });
    const running = start(reader, [
      "/bin/sh",
      "-c",
      "echo ready; until [ -e later/go ]; do sleep 0.02; done; echo done",
    ]);
    await expect.poll(running.seen).toBe("ready\n");
    expect((await run(await open([elsewhere]), lookThere)).stdout.toString()).toBe("there\n");
    expect(existsSync(join(elsewhere, "planted"))).toBe(false);
    writeFileSync(join(root, "later/go"), "");
    expect((await running.done).stdout.toString()).toBe("ready\ndone\n");
    // It stays, and the same one is used.
    expect(await open()).toBe(await open([elsewhere]));
  },
);

sandboxed("when it is killed, what runs fails, and the next one has another", async () => {
  const reader = await open();
  const running = start(reader, ["/bin/sh", "-c", "readlink /proc/self/ns/pid; exec sleep 600"]);
  await expect.poll(running.seen).toMatch(/^pid:/);
  const failure = expect(running.done).rejects.toMatchObject({ code: "EXEC_FAILED" });
  const launchers = listProcesses().filter(({ ppid, name }) => ppid === process.pid && name === "bwrap");
  for (const { pid } of launchers) process.kill(pid, "SIGKILL");
  await failure;
  await expect(run(reader, ["/bin/true"])).rejects.toMatchObject({ code: "EXEC_FAILED" });
  const next = await run(await open(), ["/usr/bin/readlink", "/proc/self/ns/pid"]);
  expect(next.stdout.toString()).not.toBe(running.seen());
  expect(next.stdout.toString().trim()).not.toBe(readlinkSync("/proc/self/ns/pid"));
});

const SERVER = `
  const { createSandbox } = await import(process.argv[1] + "/create-sandbox.ts");
  const { DEFAULT_SANDBOX } = await import(process.argv[1] + "/settings.ts");
  const { openStateFolder } = await import(process.argv[1] + "/../state.ts");
  const [root, seconds] = process.argv.slice(2);
  const env = { HOME: root + "/../home", XDG_STATE_HOME: root + "/../state" };
  const state = openStateFolder({ roots: [root], env, warn() {} });
  const sandbox = createSandbox({ roots: [root], settings: DEFAULT_SANDBOX, env, state });
  const reader = await sandbox.openReader([]);
  const argv = ["/bin/sh", "-c", "setsid sleep " + seconds + " & echo ready; wait"];
  const command = { argv, folder: root, env: { PATH: "/usr/bin:/bin" }, input: new Uint8Array() };
  reader.start(command, (_, bytes) => process.stdout.write(bytes));
`;

sandboxed(
  "nothing of it outlives a server that is killed, nor keeps one from ending that has nothing to do",
  async () => {
    const seconds = `600.${process.pid}`;
    const args = ["--no-warnings", "--input-type=module", "-e"];
    const server = spawn(process.execPath, [...args, SERVER, import.meta.dirname, root, seconds], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(server.stdout, "data");
    expect(processesWith(seconds).length).toBeGreaterThan(1);
    server.kill("SIGKILL");
    await expect.poll(() => processesWith(seconds)).toEqual([]);

    const idle = `${SERVER.slice(0, SERVER.indexOf("const argv"))}`;
    const done = spawn(process.execPath, [...args, idle, import.meta.dirname, root], { stdio: "inherit" });
    expect(await once(done, "exit")).toEqual([0, null]);
  },
);
