import { dirname } from "node:path";
import type { TrustedProgram } from "../programs/trusted-program.ts";
import { shellQuote } from "../shell-quote.ts";
import { EXCHANGE } from "./exchange.ts";
import { divideVariables, keepVariables, ROOT_CAPABILITIES, toLimitCommands } from "./launcher.ts";
import type { Bind, Mount } from "./mount.ts";
import type { Level } from "./sandbox.ts";
import type { Scratch } from "./scratch.ts";
import type { SandboxSettings } from "./settings.ts";

export interface UnshareLevelOptions {
  readonly unshare: TrustedProgram;
  readonly setpriv: TrustedProgram;
  readonly isRoot: boolean;
  readonly settings?: Pick<SandboxSettings, "memory_bytes">;
  readonly scratch: Scratch;
}

/** The same tree as with bubblewrap, put together by a shell script in namespaces of util-linux. No seccomp filter. */
export function createUnshareLevel(options: UnshareLevelOptions): Level {
  const { unshare, setpriv, isRoot, scratch } = options;
  const stage = scratch.folder("stage");
  const files = new WeakMap<readonly Mount[], string>();
  const scriptOf = (mounts: readonly Mount[]): string => {
    const file = files.get(mounts) ?? scratch.keep("script", Buffer.from(toScript(mounts, options, stage)));
    files.set(mounts, file);
    return file;
  };
  return {
    level: "unshare",
    binds: true,
    detail: DETAIL,
    launch(command, { mounts, exchange = "", ownNetwork }) {
      const { passed, inside } = divideVariables(command.env);
      const variables = keepVariables(scratch, toAssignments(inside));
      const argv = [
        ...[setpriv, "--pdeathsig", "KILL", unshare, "--mount", "--pid", "--fork", "--kill-child"],
        ...["--ipc", "--uts"],
        ...(isRoot ? [] : ["--user", "--map-root-user"]),
        ...(ownNetwork ? ["--net"] : []),
        ...["/bin/sh", scriptOf(mounts), command.folder, variables, exchange],
        ...command.argv,
      ] as [string, ...string[]];
      return { argv, env: passed, folder: command.folder, launcher: true };
    },
  };
}

const DETAIL =
  "namespaces of util-linux: own processes and mounts, secrets masked, only the workspace, temp and caches writable; " +
  "no seccomp filter, and some 0.1 s for each command. Install bubblewrap for the rest";

/** Runs as the first process of the namespaces: builds the tree at the stage, moves into it, gives up its rights. */
function toScript(
  mounts: readonly Mount[],
  { unshare, setpriv, isRoot, settings }: UnshareLevelOptions,
  stage: string,
): string {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  const giveUp = isRoot
    ? `${setpriv} --no-new-privs --inh-caps=-all --bounding-set=-all,${ROOT_CAPABILITIES.map((name) => `+${name}`).join()} --`
    : `${unshare} --user --map-user=${uid} --map-group=${gid} -- ${setpriv} --no-new-privs --`;
  return [
    `set -e; ${toLimitCommands(settings)}; PATH_GIVEN=$PATH; PATH=/usr/bin:/bin:/usr/sbin:/sbin`,
    'folder=$1; exec 7<"$2"; rm -f -- "$2"; exchange=$3; shift 3',
    `stage=${shellQuote(stage)}`,
    ...FUNCTIONS,
    mounts[0]?.at === "/" ? 'mount --rbind / "$stage"; seal_all "$stage"' : 'mount -t tmpfs tmpfs "$stage"',
    // A user gives up its rights by a second user namespace, which is set up by writing to /proc.
    ...mounts.filter(({ kind, at }) => isRoot || kind !== "seal" || at !== "/proc").flatMap(toCommands),
    `[ -z "$exchange" ] || mount --bind "$exchange" "$stage"${shellQuote(EXCHANGE)}`,
    'cd "$stage"; pivot_root . .; umount -l .; cd "$folder"',
    "set +e",
    // The command's variables, including LD_PRELOAD, are set after the privileges are dropped. Not by exec: the first
    // process of a namespace receives no signal that it does not handle.
    `${giveUp} /bin/sh -c ${shellQuote(SET_VARIABLES)} sh "$PATH_GIVEN" "$@"`,
    "",
  ].join("\n");
}

const SET_VARIABLES = 'PATH=$1; shift; . /proc/self/fd/7; exec 7<&-; exec "$@"';

const FUNCTIONS = [
  'room() { if [ -d "$1" ]; then mkdir -p "$stage$2"; else mkdir -p "$stage$3"; [ -e "$stage$2" ] || : >"$stage$2"; fi; }',
  // In a user namespace a mount keeps its original options, so they are all repeated; where the user has no access,
  // nothing needs to be done.
  `seal_all() {
  while read -r _ _ _ _ at options _; do
    case $at in *\\\\*) at=$(printf %b "$at");; esac
    case $at in "$1"|"$1"/*) mount -o "remount,bind,$options,ro" "$at" 2>/dev/null || ! [ -e "$at" ];; esac
  done </proc/self/mountinfo
}`,
  'seal() { mount -o remount,bind,ro "$1" 2>/dev/null || seal_all "$1"; }',
];

const DEVICES = ["null", "zero", "full", "random", "urandom", "tty"];

function toCommands(mount: Mount): string[] {
  const at = shellQuote(mount.at);
  switch (mount.kind) {
    case "read":
    case "write":
    case "device": {
      if (mount.at === "/") return [];
      if (mount.ifThere) return [toMask(mount)];
      const room = `room ${shellQuote(mount.source)} ${at} ${shellQuote(dirname(mount.at))}`;
      // A mount inside a readable one would stay writable, so it is left out.
      const source = shellQuote(mount.source);
      const everything = `mount --rbind ${source} "$stage"${at}`;
      // A user namespace may not part a folder from the mounts inside it; then these are sealed as well.
      const bind =
        mount.kind === "read"
          ? `mount --bind ${source} "$stage"${at} 2>/dev/null || { ${everything}; seal_all "$stage"${at}; }`
          : everything;
      const steps = [room, bind, ...(mount.kind === "read" ? [`seal "$stage"${at}`] : [])];
      return mount.mayBeGone
        ? [`if [ -e ${shellQuote(mount.source)} ]; then ${steps.join("; ")}; fi`]
        : steps;
    }
    case "empty":
      return [`mkdir -p "$stage"${at}; mount -t tmpfs tmpfs "$stage"${at}`];
    case "folder":
      return [`mkdir -p "$stage"${at}`];
    case "link":
      return [`ln -s ${shellQuote(mount.target)} "$stage"${at}`];
    case "seal":
      return [`mount -o remount,bind,ro "$stage"${mount.at === "/" ? "" : at}`];
    case "processes":
      return [`mkdir -p "$stage"${at}; mount -t proc proc "$stage"${at}`];
    case "devices":
      return [
        // Not sticky as tmpfs is by default: there, a kernel refuses O_CREAT on a device of another user, as in `>/dev/null`.
        `mkdir -p "$stage"${at}; mount -t tmpfs -o mode=0755 tmpfs "$stage"${at}; mkdir "$stage"${at}/pts; mkdir -m 1777 "$stage"${at}/shm`,
        `for d in ${DEVICES.join(" ")}; do : >"$stage"${at}/$d; mount --bind /dev/$d "$stage"${at}/$d; done`,
        `mount -t devpts -o newinstance,ptmxmode=0666 devpts "$stage"${at}/pts; ln -s pts/ptmx "$stage"${at}/ptmx`,
        `ln -s /proc/self/fd "$stage"${at}/fd; ln -s fd/0 "$stage"${at}/stdin; ln -s fd/1 "$stage"${at}/stdout; ln -s fd/2 "$stage"${at}/stderr`,
      ];
  }
}

/** The entry may disappear between the check and the mount. */
function toMask({ source, at }: Bind): string {
  const place = `"$stage"${shellQuote(at)}`;
  const mask = `mount --bind ${shellQuote(source)} ${place} && seal ${place}`;
  return `[ ! -e ${place} ] || { ${mask}; } || [ ! -e ${place} ]`;
}

/** Lines that the shell reads when it has nothing left to start but the command. */
const toAssignments = (inside: Readonly<Record<string, string>>): string =>
  Object.entries(inside)
    // A shell cannot export other names.
    .filter(([name]) => /^[A-Za-z_]\w*$/.test(name))
    .map(([name, value]) => `export ${name}=${shellQuote(value)}\n`)
    .join("");
