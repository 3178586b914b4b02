import { spawn, spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { CREDENTIALS } from "./escape-probes.ts";
import type { Assignment, Report } from "./probe-runner.ts";
import { processesWith } from "./processes-with.ts";

/** A target for attacks on this machine: a workspace, files outside of it, a home with secrets, a victim process. */
export interface World extends AsyncDisposable {
  readonly ws: string;
  readonly outside: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs commands one by one, in a process of the user that all calls share. */
  run(assignment: Pick<Assignment, "settings" | "commands" | "level" | "prepared">): Promise<Report>;
  /** Takes a file's name from the workspace, the home or elsewhere in the world. */
  write(path: string, text: string): void;
  processesWith(word: string): number[];
}

const RUNNER = join(import.meta.dirname, "probe-runner.ts");
const CHECKOUT = join(import.meta.dirname, "../../../..");
const NOBODY = 65_534;

/**
 * `uid` of the attacking user; different from ours only when we are root. Not in a temp folder: those are private
 * inside.
 */
export async function createWorld(uid: number): Promise<World> {
  const amRoot = process.getuid?.() === 0;
  const near = amRoot ? "/srv" : CHECKOUT;
  const base = realpathSync(mkdtempSync(join(near, ".octant-world-")));
  const [ws, outside, home] = ["ws", "outside", "home"].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  const sockets = mkdtempSync(join(tmpdir(), "octant-world-"));
  const otherHome = amRoot ? mkdtempSync("/home/octant-other-") : "/root";
  const put = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o600 });
  };
  mkdirSync(outside, { recursive: true });
  for (const name of ["file", "held", "take-me", "remove-me"]) writeFileSync(join(outside, name), "x");
  for (const path of CREDENTIALS)
    put(
      join(home, path),
      path === ".npmrc" ? "//r/:_authToken=CANARY_OF_HOME\nfund=false\n" : "CANARY_OF_HOME\n",
    );
  for (const path of [".npm", ".cargo/registry", ".cache"]) mkdirSync(join(home, path), { recursive: true });
  put(join(home, "notes.txt"), "plain\n");
  put(join(ws, "README"), "hello\n");
  for (const path of [".hanzo/settings.json", ".mcp.json", ".vscode/tasks.json"]) put(join(ws, path), "{}\n");
  if (amRoot) writeFileSync(join(otherHome, "key"), "CANARY_OF_OTHERS", { mode: 0o600 });
  spawnSync("git", ["init", "-q", ws]);
  makeLibrary(ws, outside);
  if (amRoot) for (const path of [base, sockets]) spawnSync("chown", ["-R", `${uid}:${uid}`, path]);
  // A folder above it may be closed to others, but this one is the user's.
  chmodSync(sockets, 0o777);
  copyFileSync("/usr/bin/id", join(outside, "setuid-id"));
  if (amRoot) chownSync(join(outside, "setuid-id"), 0, 0);
  chmodSync(join(outside, "setuid-id"), 0o4755);

  const id = base.slice(-6);
  const listeners = await listen({
    TMP_SOCKET: join(sockets, "socket"),
    HOME_SOCKET: join(home, ".docker/run/docker.sock"),
    RUN_SOCKET: amRoot ? `/run/octant-${id}.sock` : join(sockets, "run"),
    ABSTRACT: `octant-${id}`,
  });
  const victimName = `octant-victim-${id}`;
  const user = amRoot ? { uid, gid: uid } : {};
  const victim = spawn("/usr/bin/python3", ["-c", VICTIM, victimName], {
    ...user,
    cwd: outside,
    stdio: ["ignore", "pipe", "inherit"],
    env: { CANARY_OF_VICTIM: "1" },
  });
  await once(victim.stdout!, "data");
  const SURVIVOR = `600.${parseInt(id, 36)}`;
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    WS: ws,
    OUTSIDE: outside,
    OTHER_HOME: otherHome,
    SURVIVOR,
    VICTIM: String(victim.pid),
    VICTIM_NAME: victimName,
    ...listeners.env,
  };
  let runner: ReturnType<typeof startRunner> | undefined;
  const startRunner = () => {
    const child = spawn(process.execPath, ["--no-warnings", RUNNER], {
      ...user,
      cwd: "/",
      stdio: ["pipe", "pipe", "inherit"],
      env: {
        PATH: env.PATH,
        HOME: home,
        RUSTUP_HOME: process.env["RUSTUP_HOME"] ?? "",
        NODE_COMPILE_CACHE: compileCache(uid),
        CANARY_OF_SERVER: "1",
      },
    });
    return { child, reports: createInterface({ input: child.stdout! })[Symbol.asyncIterator]() };
  };
  return {
    ws,
    outside,
    home,
    env,
    write(path, text) {
      put(path, text);
      if (amRoot) spawnSync("chown", ["-R", `${uid}:${uid}`, base]);
    },
    async run(assignment) {
      runner ??= startRunner();
      runner.child.stdin!.write(`${JSON.stringify({ root: ws, env, ...assignment } satisfies Assignment)}\n`);
      const { done, value } = await runner.reports.next();
      if (done) throw new Error("the process that runs the commands has ended");
      return JSON.parse(value);
    },
    processesWith,
    async [Symbol.asyncDispose]() {
      if (runner) {
        runner.child.stdin!.end();
        await once(runner.child, "close");
      }
      victim.kill("SIGKILL");
      listeners.close();
      for (const path of [base, sockets, ...(amRoot ? [otherHome] : [])])
        rmSync(path, { recursive: true, force: true });
    },
  };
}

/** The cache of the test run; another user has a folder of its own. */
function compileCache(uid: number): string | undefined {
  const shared = process.env["NODE_COMPILE_CACHE"];
  if (shared === undefined || uid === process.getuid?.()) return shared;
  const own = join(shared, String(uid));
  mkdirSync(own, { recursive: true, mode: 0o700 });
  chownSync(own, uid, uid);
  return own;
}

export const identities = (): { name: string; uid: number }[] => {
  const me = process.getuid?.() ?? NOBODY;
  return me === 0
    ? [
        { name: "root", uid: 0 },
        { name: "an ordinary user", uid: NOBODY },
      ]
    : [{ name: "an ordinary user", uid: me }];
};

const VICTIM = `
import signal, time
held = open("held", "a")
signal.signal(signal.SIGUSR1, lambda *_: open("signalled", "w").close())
print("ready", flush=True)
while True: time.sleep(600)
`;

/** A library that writes outside as soon as it is loaded. */
function makeLibrary(ws: string, outside: string): void {
  writeFileSync(join(ws, "evil.sh"), 'echo x >"$OUTSIDE/by-function"\n');
  library ??= compileLibrary();
  if (library.length === 0) return;
  const bytes = Buffer.from(library);
  bytes.write(`${outside}/by-library\0`, bytes.indexOf(PATH_OF_LIBRARY));
  writeFileSync(join(ws, "evil.so"), bytes, { mode: 0o755 });
}

/** Compiled once for all worlds of a test file. */
let library: Buffer | undefined;

/** Stands for the path that the library of each world writes to. */
const PATH_OF_LIBRARY = "@".repeat(500);
const LIBRARY = `#include <fcntl.h>
__attribute__((constructor)) void go(void) { open("${PATH_OF_LIBRARY}", O_CREAT | O_WRONLY, 0600); }
`;

function compileLibrary(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "octant-library-"));
  try {
    const file = join(folder, "evil.so");
    const { error, status, stderr } = spawnSync("gcc", ["-shared", "-fPIC", "-xc", "-o", file, "-"], {
      input: LIBRARY,
    });
    // Without a compiler the one probe that preloads this library finds nothing; CI always has one.
    if (error && !process.env["CI"]) return Buffer.alloc(0);
    if (status !== 0) throw new Error(`gcc: ${stderr}`);
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Listeners {
  readonly env: Readonly<Record<string, string>>;
  close(): void;
}

async function listen(
  places: Readonly<Record<"TMP_SOCKET" | "RUN_SOCKET" | "HOME_SOCKET" | "ABSTRACT", string>>,
): Promise<Listeners> {
  const servers: Server[] = [];
  for (const [name, path] of Object.entries(places)) {
    mkdirSync(dirname(path), { recursive: true });
    const server = createServer((socket) => socket.destroy());
    server.listen(name === "ABSTRACT" ? `\0${path}` : path);
    await once(server, "listening");
    if (name !== "ABSTRACT") chmodSync(path, 0o777);
    servers.push(server);
  }
  const tcp = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(tcp, "listening");
  const udp = createSocket("udp4");
  udp.on("message", (bytes, from) => udp.send(bytes, from.port, from.address));
  udp.bind(0, "127.0.0.1");
  await once(udp, "listening");
  return {
    env: { ...places, TCP: String((tcp.address() as AddressInfo).port), UDP: String(udp.address().port) },
    close: () => [...servers, tcp, udp].map((server) => server.close()),
  };
}
