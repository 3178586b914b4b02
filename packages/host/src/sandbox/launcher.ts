import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Scratch } from "./scratch.ts";

/**
 * Opens the files that bubblewrap reads by descriptor, then execs bubblewrap. A shell does it because the caller can
 * pass only arguments. $1 is the mounts, $2 the filter; $3, if given, the variables, which are deleted at once.
 */
const SCRIPT = 'exec 8<"$1" 9<"$2"; shift 2; exec "$@"';
const SCRIPT_WITH_VARIABLES = `exec 7<"$1"; /bin/rm -f -- "$1"; shift; ${SCRIPT}`;
/** On a terminal Ctrl-C reaches bubblewrap too, and would end it and everything in it. */
const IGNORE_KEYS = "trap '' INT QUIT; ";
/** Arguments of `env`. The command must not inherit the ignored signals, and a shell cannot restore them. */
export const RESTORE_KEY_SIGNALS = ["--default-signal=INT,QUIT"] as const;

export interface LauncherFiles {
  readonly mounts: string;
  readonly filter: string;
  readonly variables: string | undefined;
}

export interface Variables {
  /** Variables for the launcher, which passes them on. */
  readonly passed: Readonly<Record<string, string>>;
  /** Variables for the command only: the launcher runs outside the sandbox and would obey them. */
  readonly inside: Readonly<Record<string, string>>;
}

export function toLauncherArgv(
  { mounts, filter, variables }: LauncherFiles,
  launcher: readonly string[],
  { limits, ignoresKeys }: { readonly limits: string; readonly ignoresKeys: boolean },
): readonly [string, ...string[]] {
  const start = `${ignoresKeys ? IGNORE_KEYS : ""}${limits}; `;
  const script = start + (variables === undefined ? SCRIPT : SCRIPT_WITH_VARIABLES);
  const files = [...(variables === undefined ? [] : [variables]), mounts, filter];
  return ["/bin/sh", "-c", script, "sandbox", ...files, ...launcher];
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
    ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TZ", "TERM", "TMPDIR", "TMP", "TEMP", "CI"],
    ...[
      "LANG",
      "LANGUAGE",
      "LC_[A-Z]+",
      "COLORTERM",
      "NO_COLOR",
      "FORCE_COLOR",
      "DISPLAY",
      "WAYLAND_DISPLAY",
    ],
    ...["XDG_[A-Z_]+", "(?:https?|all|ftp|no)_proxy", "(?:HTTPS?|ALL|FTP|NO)_PROXY", "SSL_CERT_(?:FILE|DIR)"],
    ...["(?:OCTANT|HANZO|NODE|NPM|npm|NVM|VOLTA|FNM|PNPM|BUN|DENO|COREPACK|YARN)_[A-Za-z0-9_]+"],
    ...[
      "(?:PYTHON|PYTEST|PIP|UV|VIRTUAL|CONDA|PYENV|CARGO|RUST|RUSTUP|GEM|RBENV|DOTNET|JAVA|MAVEN|GRADLE)[A-Z0-9_]*",
    ],
    ...[
      "GO[A-Z]+",
      "GIT_[A-Z_]+",
      "ANDROID_[A-Z_]+",
      "SDKMAN_DIR",
      "REQUESTS_CA_BUNDLE",
      "CURL_CA_BUNDLE",
      "PORT",
      "DEBUG",
    ],
  ].join("|")})$`,
);

/** Variables for the inside, as arguments in a file of their own: on the command line everybody could read them. */
export function keepVariables(scratch: Scratch, inside: Variables["inside"]): string | undefined {
  const entries = Object.entries(inside);
  if (entries.length === 0) return undefined;
  const file = join(variablesFolder(scratch), randomBytes(16).toString("hex"));
  const text = entries.flatMap(([name, value]) => ["--setenv", name, value]).map((part) => `${part}\0`);
  writeFileSync(file, text.join(""), { flag: "wx", mode: 0o600 });
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
