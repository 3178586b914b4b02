import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findTrusted, type TrustedProgram } from "../programs/trusted-program.ts";
import { openStateFolder } from "../state.ts";
import { createBubblewrapLevel } from "./bubblewrap-level.ts";
import { createSandbox } from "./create-sandbox.ts";
import { type Mount, read } from "./mount.ts";
import type { Launch } from "./sandbox.ts";
import { openScratch } from "./scratch.ts";
import { DEFAULT_SANDBOX } from "./settings.ts";
import { listeningSockets } from "./sockets.ts";
import type { Architecture } from "./syscalls.ts";

/** Not in a temp folder: those are private inside. */
const CHECKOUT = join(import.meta.dirname, "../../../..");

/** A workspace, and a server's socket beside it. */
async function openPlace() {
  const folder = realpathSync(mkdtempSync(join(CHECKOUT, ".octant-sockets-")));
  const [root, socket] = [join(folder, "root"), join(folder, "socket")];
  mkdirSync(root);
  const server = createServer().listen(socket);
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const env = { PATH: process.env["PATH"] ?? "", HOME: root, XDG_STATE_HOME: join(folder, "state") };
  const state = openStateFolder({ roots: [root], env, warn: () => {} });
  return { folder, root, socket, env, state };
}

const LOOK = ["/bin/sh", "-c", 'test -S "$0" && echo seen || echo hidden; echo $SECRET'] as const;

const run = ({ argv: [program, ...args], env, folder }: Launch): string =>
  execFileSync(program, args, { env, cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** One where the tests run on a machine without the others. */
const given = process.env["OCTANT_TEST_LEVEL"];
const LEVELS = (["bubblewrap", "unshare"] as const).filter((level) => level === (given ?? level));

test.skipIf(process.platform !== "linux").each(LEVELS)(
  "%s hides a socket, and one that goes between the plan and the start stops no command",
  async (level) => {
    const { root, socket, env, state } = await openPlace();
    expect(listeningSockets()).toContain(socket);
    const sandbox = createSandbox({
      roots: [root],
      settings: DEFAULT_SANDBOX,
      env,
      state,
      levels: [level],
    });
    onTestFinished(() => sandbox.close());
    const command = {
      argv: [...LOOK, socket] as [string, ...string[]],
      folder: root,
      env: { SECRET: "x" },
      pty: false,
    };
    const [first, second] = [await sandbox.wrap(command), await sandbox.wrap(command)];
    expect(run(first)).toBe("hidden\nx\n");
    rmSync(socket);
    expect(run(second)).toBe("hidden\nx\n");
    expect(existsSync(socket)).toBe(false);
    for (const launched of [first, second]) launched.release();
  },
);

test.skipIf(process.platform !== "linux" || !LEVELS.includes("bubblewrap"))(
  "bubblewrap is started again when a socket goes while it mounts, and the command runs once",
  async () => {
    const { folder, root, socket, state } = await openPlace();
    const real = findTrusted("bwrap")!;
    const slow = join(folder, "bwrap");
    writeFileSync(slow, `#!/bin/sh\nrm -f ${socket}; echo started >>${folder}/starts; exec ${real} "$@"\n`);
    chmodSync(slow, 0o755);
    const scratch = openScratch(state);
    const bubblewrap = createBubblewrapLevel({
      // A stand-in that removes the socket at the last moment.
      program: slow as TrustedProgram,
      envProgram: undefined,
      setpriv: findTrusted("setpriv"),
      // The machines that have bubblewrap are among these.
      arch: process.arch as Architecture,
      isRoot: process.getuid?.() === 0,
      scratch,
    });
    const mounts: Mount[] = [
      read("/"),
      { kind: "devices", at: "/dev" },
      { kind: "processes", at: "/proc" },
      { kind: "write", source: root, at: root },
      { ...read(scratch.nothing.file, socket), ifThere: true },
    ];
    const argv = ["/bin/sh", "-c", "echo $SECRET; echo ran >>ran; cat ran; exit 0"] as [string, ...string[]];
    const command = { argv, folder: root, env: { SECRET: "x" }, pty: false };
    expect(run(bubblewrap.launch(command, { mounts, ownNetwork: false }))).toBe("x\nran\n");
    const failing = {
      ...command,
      argv: ["/bin/sh", "-c", "echo ran >>ran; exit 1"] as [string, ...string[]],
    };
    expect(() => run(bubblewrap.launch(failing, { mounts, ownNetwork: false }))).toThrow();
    expect(execFileSync("cat", [join(folder, "starts"), join(root, "ran")], { encoding: "utf8" })).toBe(
      `${"started\n".repeat(3)}${"ran\n".repeat(2)}`,
    );
  },
);
