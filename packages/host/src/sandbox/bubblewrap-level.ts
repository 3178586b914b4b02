import { toBytes, toNative } from "../path.ts";
import { succeeds } from "../programs/start-program.ts";
import type { TrustedProgram } from "../programs/trusted-program.ts";
import { EXCHANGE } from "./exchange.ts";
import {
  divideVariables,
  keepVariables,
  type LauncherFiles,
  type LauncherOptions,
  RESTORE_KEY_SIGNALS,
  ROOT_CAPABILITIES,
  toLauncherArgv,
  toLimitCommands,
} from "./launcher.ts";
import type { Bind, Mount } from "./mount.ts";
import { type Entry, entriesOf, toOrder, toPreparedKey, WAITING_COMMAND } from "./prepared.ts";
import type { Level } from "./sandbox.ts";
import type { Scratch } from "./scratch.ts";
import { assembleFilter } from "./seccomp.ts";
import type { SandboxSettings } from "./settings.ts";
import type { Architecture } from "./syscalls.ts";

export interface BubblewrapLevelOptions {
  readonly program: TrustedProgram;
  /** coreutils' `env`, which gives a command on a terminal its signals back. */
  readonly envProgram: TrustedProgram | undefined;
  /** util-linux's, which ends the launcher with its parent. */
  readonly setpriv: TrustedProgram | undefined;
  readonly arch: Architecture;
  readonly isRoot: boolean;
  readonly settings?: Pick<SandboxSettings, "memory_bytes">;
  readonly scratch: Scratch;
}

export function createBubblewrapLevel(options: BubblewrapLevelOptions): Level {
  const { program, envProgram, setpriv, arch, isRoot, scratch } = options;
  const limits = toLimitCommands(options.settings);
  const filter = scratch.keep("filter", assembleFilter(arch));
  // Plans are cached by their owner, so an identical list is the same object.
  const files = new WeakMap<readonly Mount[], Pick<LauncherFiles, "mounts" | "masks"> & Shown>();
  const filesOf = (all: readonly Mount[]) => {
    const [lasting, passing] = [all.filter((mount) => !isPassing(mount)), all.filter(isPassing)];
    const found = files.get(all) ?? {
      mounts: scratch.keep("mounts", toArgumentFile(lasting, isRoot)),
      masks: passing[0] && {
        list: scratch.keep("masks", Buffer.from(passing.map(({ at }) => `${at}\n`).join(""))),
        nothing: passing[0].source,
      },
      entries: entriesOf(all),
    };
    files.set(all, found);
    return found;
  };
  let dying: LauncherOptions["dying"] | null = null;
  /** Not every `setpriv` can. */
  const dieWithParent = () => {
    if (dying !== null) return dying;
    const canDie = setpriv !== undefined && succeeds(setpriv, [...DIE_WITH_PARENT, "/bin/true"]);
    dying = canDie ? [setpriv, ...DIE_WITH_PARENT] : undefined;
    return dying;
  };
  let restoring: readonly string[] | undefined;
  /** Not every `env` can restore signals; where it cannot, Ctrl-C ends the launcher and the command with it. */
  const restoreKeySignals = (): readonly string[] => {
    restoring ??=
      envProgram !== undefined && succeeds(envProgram, [...RESTORE_KEY_SIGNALS, "/bin/true"])
        ? [envProgram, ...RESTORE_KEY_SIGNALS]
        : [];
    return restoring;
  };
  return {
    level: "bubblewrap",
    binds: true,
    detail: isRoot ? AS_ROOT : AS_USER,
    launch(command, { mounts, exchange, ownNetwork, over = [] }) {
      const { argv, env, folder, pty } = command;
      const { entries, ...shared } = filesOf(mounts);
      const { passed, inside } = divideVariables(env);
      const set = Object.entries(inside).map(([name, value]) => `--setenv\0${name}\0${value}\0`);
      const variables = set.length === 0 ? undefined : keepVariables(scratch, set.join(""));
      const restored = pty ? restoreKeySignals() : [];
      const toArgv = (args: readonly string[], own: Pick<LauncherFiles, "variables">) =>
        toLauncherArgv({ ...shared, ...own, filter }, program, ["--seccomp", "9", ...network, ...args], {
          limits,
          ignoresKeys: restored.length > 0,
          dying: shared.masks && dieWithParent(),
        });
      const network = ownNetwork ? ["--unshare-net"] : [];
      const args = [
        ...(variables === undefined ? [] : ["--args", "7"]),
        ...(exchange === undefined ? [] : ["--bind", exchange, EXCHANGE]),
        ...over.flatMap(toArguments),
        // Without its own session it could inject input into our parent's terminal.
        ...(pty ? [] : ["--new-session"]),
        // A name that no argument can hold is left to where the launcher was started.
        ...(typeof toNative(folder) !== "string" ? [] : ["--chdir", folder]),
        ...["--", ...restored, ...argv],
      ];
      return {
        argv: toArgv(args, { variables }),
        env: passed,
        folder,
        launcher: true,
        prepared() {
          const hasOwnMounts = exchange !== undefined || over.length > 0;
          const order = pty || hasOwnMounts ? undefined : toOrder(command);
          if (order === undefined) return undefined;
          const waiting = toArgv(["--new-session", "--chdir", "/", "--", ...WAITING_COMMAND], {
            variables: undefined,
          });
          return { argv: waiting, key: toPreparedKey(waiting, entries), order, unused: variables ?? null };
        },
      };
    },
  };
}

interface Shown {
  /** The real entries that the mounts are made of. */
  readonly entries: readonly Entry[];
}

const DIE_WITH_PARENT = ["--pdeathsig", "KILL"] as const;

const isPassing = (mount: Mount): mount is Bind => "ifThere" in mount;

const HOLDS =
  "own processes, mounts and devices, a seccomp filter, secrets masked, only the workspace, temp and caches writable";
const AS_USER = `bubblewrap in a user namespace: ${HOLDS}`;
const AS_ROOT = `bubblewrap as root with few capabilities: ${HOLDS}`;

/** The arguments that stay the same from command to command, as `--args` reads them. */
function toArgumentFile(mounts: readonly Mount[], isRoot: boolean): Buffer {
  const rights = isRoot
    ? [
        "--cap-drop",
        "ALL",
        ...ROOT_CAPABILITIES.flatMap((name) => ["--cap-add", `CAP_${name.toUpperCase()}`]),
      ]
    : ["--unshare-user"];
  const args = [...NAMESPACES, "--die-with-parent", ...rights, ...mounts.flatMap(toArguments)];
  return Buffer.concat(args.flatMap((arg) => [toBytes(arg), Buffer.of(0)]));
}

const NAMESPACES = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"];

function toArguments(mount: Mount): string[] {
  switch (mount.kind) {
    case "read":
      return [mount.mayBeGone ? "--ro-bind-try" : "--ro-bind", mount.source, mount.at];
    case "write":
      return [mount.mayBeGone ? "--bind-try" : "--bind", mount.source, mount.at];
    case "device":
      return ["--dev-bind", mount.source, mount.at];
    case "empty":
      return ["--tmpfs", mount.at];
    case "folder":
      return ["--dir", mount.at];
    case "link":
      return ["--symlink", mount.target, mount.at];
    case "seal":
      return ["--remount-ro", mount.at];
    case "devices":
      return ["--dev", mount.at];
    case "processes":
      return ["--proc", mount.at];
  }
}
