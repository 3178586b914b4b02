import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "@octant/core";
import { CERTIFICATES } from "../processes/environment.ts";
import { words } from "../words.ts";
import type { Scratch } from "./scratch.ts";
import type { SandboxSettings } from "./settings.ts";

/**
 * Opens the files that bubblewrap reads by descriptor, then execs bubblewrap. A shell does it because the caller can
 * pass only arguments. $1 is the mounts, $2 the filter; before them the variables, if any, which are deleted at once.
 */
const SCRIPT = 'exec 8<"$1" 9<"$2"; program=$3; shift 3; exec "$program" --args 8 "$@"';
const READ_VARIABLES = 'exec 7<"$1"; /bin/rm -f -- "$1"; shift; ';
/** Entries may vanish one after the other. */
const MAX_STARTS = 5;
/**
 * Covers the entries that $3 lists, one a line, with the empty file $4. One may disappear before bubblewrap has mounted
 * over it, which then fails before the command.
 */
const COVER = `exec 8<"$1" 9<"$2"; masks=$3 nothing=$4 program=$5; shift 5
start() {
  while IFS= read -r at; do [ ! -S "$at" ] || set -- --ro-bind "$nothing" "$at" "$@"; done <"$masks"
  exec "$program" --args 8 "$@"
}
`;
const COVER_ONCE = `${COVER}start "$@"`;
/** bubblewrap reports an exit code only for a command that it has started. A reopened file is read from its start. */
const COVER_AGAIN = `${COVER}exec 5>&1
is_gone() { while IFS= read -r at; do [ -S "$at" ] || return 0; done <"$masks"; return 1; }
again=${MAX_STARTS - 1}
while :; do
  for fd in 7 8 9; do [ ! -e /proc/self/fd/$fd ] || eval "exec $fd</proc/self/fd/$fd"; done
  report=$(exec 6>&1 >&5 5>&-; start --json-status-fd 6 "$@"); code=$?
  case "$code $report" in *exit-code*) ;; "1 "*) [ $again = 0 ] || ! is_gone || { again=$((again - 1)); continue; } ;; esac
  exit $code
done`;
/** On a terminal Ctrl-C reaches bubblewrap too, and would end it and everything in it. */
const IGNORE_KEYS = "trap '' INT QUIT; ";
/** Arguments of `env`. The command must not inherit the ignored signals, and a shell cannot restore them. */
export const RESTORE_KEY_SIGNALS = ["--default-signal=INT,QUIT"] as const;

export interface Variables {
  /** Variables for the launcher, which passes them on. */
  readonly passed: Readonly<Record<string, string>>;
  /** Variables for the command only: the launcher runs outside the sandbox and would obey them. */
  readonly inside: Readonly<Record<string, string>>;
}

export interface LauncherFiles {
  readonly mounts: string;
  readonly filter: string;
  readonly variables: string | undefined;
  /** The list of entries to cover, and what covers them. */
  readonly masks: { readonly list: string; readonly nothing: string } | undefined;
}

export interface LauncherOptions {
  readonly limits: string;
  readonly ignoresKeys: boolean;
  /** A prefix with which the shell dies with its parent, as bubblewrap does; undefined where there is none. */
  readonly dying: readonly [string, ...string[]] | undefined;
}

/** Runs `bubblewrap` with the mounts, the masks and `args`. */
export function toLauncherArgv(
  { mounts, filter, variables, masks }: LauncherFiles,
  bubblewrap: string,
  args: readonly string[],
  { limits, ignoresKeys, dying }: LauncherOptions,
): readonly [string, ...string[]] {
  const start = `${ignoresKeys ? IGNORE_KEYS : ""}${limits}; ${variables === undefined ? "" : READ_VARIABLES}`;
  const files = [...(variables === undefined ? [] : [variables]), mounts, filter];
  if (!masks) return ["/bin/sh", "-c", start + SCRIPT, "sandbox", ...files, bubblewrap, ...args];
  const script = start + (dying ? COVER_AGAIN : COVER_ONCE);
  const shell = ["-c", script, "sandbox", ...files, masks.list, masks.nothing, bubblewrap, ...args];
  return dying ? [...dying, "/bin/sh", ...shell] : ["/bin/sh", ...shell];
}

/** Gives the launcher only variables known to be harmless to a shell, the C library and bubblewrap. */
export function divideVariables(env: Readonly<Record<string, string>>): Variables {
  const passed: Record<string, string> = {};
  const inside: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) (HARMLESS.test(name) ? passed : inside)[name] = value;
  return { passed, inside };
}

/** LD_PRELOAD, BASH_FUNC_…, ENV, SHELLOPTS, GCONV_PATH and their like are code. */
const HARMLESS = new RegExp(
  `^(?:${[
    ...CERTIFICATES,
    ...words(`
    PATH HOME USER LOGNAME SHELL PWD TZ TERM TMPDIR TMP TEMP CI PORT DEBUG
    LANG LANGUAGE LC_[A-Z]+ COLORTERM NO_COLOR FORCE_COLOR DISPLAY WAYLAND_DISPLAY
    XDG_[A-Z_]+ (?:https?|all|ftp|no)_proxy (?:HTTPS?|ALL|FTP|NO)_PROXY
    (?:OCTANT|HANZO|NODE|NPM|npm|NVM|VOLTA|FNM|PNPM|BUN|DENO|COREPACK|YARN)_[A-Za-z0-9_]+
    (?:PYTHON|PYTEST|PIP|UV|VIRTUAL|CONDA|PYENV|CARGO|RUST|RUSTUP|GEM|RBENV|DOTNET|JAVA|MAVEN|GRADLE)[A-Z0-9_]*
    GO[A-Z]+ GIT_[A-Z_]+ ANDROID_[A-Z_]+ SDKMAN_DIR
  `),
  ].join("|")})$`,
);

/** Stores the variables for the inside in a file of their own: on the command line everybody could read them. */
export function keepVariables(scratch: Scratch, text: string): string {
  const file = join(variablesFolder(scratch), randomBytes(16).toString("hex"));
  writeFileSync(file, text, { flag: "wx", mode: 0o600 });
  return file;
}

/** Removes this server's variable files, including those of launchers that never ran. */
export const forgetVariables = (scratch: Scratch): void =>
  rmSync(variablesFolder(scratch), { recursive: true, force: true });

function variablesFolder(scratch: Scratch): string {
  const folder = join(scratch.path, `variables-${process.pid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** The limit of one process. Node raises its own limit to the hard one, which is a million in many containers, and children inherit it. */
const MAX_OPEN_FILES = 65_536;

/**
 * Limits that the launcher's shell sets before the command; ordinary work does not reach them. The number of processes
 * is not limited here: that limit counts all processes of the user on the machine.
 */
export function toLimitCommands(
  { memory_bytes }: Pick<SandboxSettings, "memory_bytes"> = {},
  current = attempt(() => readFileSync("/proc/self/limits", "utf8")) ?? "",
): string {
  // The data of each process alone; for where no control group can limit the command as a whole.
  const memory = memory_bytes === undefined ? "" : `; ulimit -d ${Math.ceil(memory_bytes / 1024)}`;
  const [, hard = "0"] = /^Max open files +\S+ +(\S+)/m.exec(current) ?? [];
  // Root could raise it, which is not meant.
  const isHigher = hard === "unlimited" || Number(hard) > MAX_OPEN_FILES;
  return `ulimit -c 0${isHigher ? `; ulimit -n ${MAX_OPEN_FILES}` : ""}${memory}`;
}

/**
 * Capabilities that root retains: files of other owners, switching users and killing their processes, low ports.
 * Dropped: mount, trace, load modules, read logs, devices, raw sockets, open by handle.
 */
export const ROOT_CAPABILITIES = words(
  "chown dac_override fowner fsetid kill setgid setuid net_bind_service",
);
