import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "@octant/core";
import { startLaunched } from "../programs/start-program.ts";
import { type Mount, read } from "./mount.ts";
import type { CommandPlace, Level, SandboxedCommand, Trial } from "./sandbox.ts";
import type { Scratch } from "./scratch.ts";

const PROBE_MS = 10_000;
const MAX_REASON_CHARS = 200;
const MAX_PRINTED_CHARS = 4_000;

/** 9: could write outside. 8: has no filter. 0: neither. */
const WRITE_OUTSIDE = `
{ true >"$1"; } 2>/dev/null && exit 9
while read -r key value; do [ "$key" = Seccomp: ] && [ "$value" = 2 ] && exit 0; done </proc/self/status
exit 8`;

/** Starts the level as it will be started, with a command that tries to write where it may not, and with one that does nothing. */
export async function tryLevel(level: Level, place: CommandPlace, scratch: Scratch): Promise<Trial> {
  const outside = join(scratch.folder("probe"), `outside-${process.pid}`);
  const kernel: Mount[] = [read("/"), { kind: "devices", at: "/dev" }, { kind: "processes", at: "/proc" }];
  const writeOutside = toCommand("/bin/sh", "-c", WRITE_OUTSIDE, "probe", outside);
  const trial = (works: boolean, why: string): Trial => ({ level: level.level, works, why });
  try {
    const [{ code, reason }, plain] = await Promise.all([
      run(level.launch(writeOutside, { ...place, mounts: kernel })),
      run(level.launch(toCommand("/bin/sh", "-c", "exit 0"), place)),
    ]);
    if (existsSync(outside) || code === 9) return trial(false, "a command could write outside");
    if (code !== 0 && !(code === 8 && level.level === "unshare"))
      return trial(false, reason || `the probe ended with ${code}`);
    if (plain.code !== 0)
      return trial(false, plain.reason || `a command that does nothing ended with ${plain.code}`);
    return trial(true, "a command ran, and could not write outside");
  } finally {
    rmSync(outside, { force: true });
  }
}

const toCommand = (...argv: [string, ...string[]]): SandboxedCommand => ({
  argv,
  folder: "/",
  env: {},
  pty: false,
});

interface Outcome {
  readonly code: number | string;
  readonly reason: string;
}

const run = ({ argv: [program, ...args], env }: ReturnType<Level["launch"]>): Promise<Outcome> =>
  new Promise((resolve) => {
    const child = startLaunched(program, args, {
      env,
      cwd: "/",
      stdio: ["ignore", "pipe", "pipe"],
      timeout: PROBE_MS,
      killSignal: "SIGKILL",
    });
    let printed = "";
    child.stdout.resume();
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      printed = (printed + text).slice(-MAX_PRINTED_CHARS);
    });
    const reason = () => printed.trim().split("\n").at(-1)?.slice(0, MAX_REASON_CHARS) ?? "";
    child.on("error", (cause) => resolve({ code: "not started", reason: cause.message }));
    child.on("close", (code) => resolve({ code: code ?? "no answer", reason: reason() }));
  });

/** Advice for a person whose machine does not support a level. */
export function adviceFor(hasBubblewrap: boolean): string {
  if (!hasBubblewrap) return "install bubblewrap (apt-get, dnf, pacman or apk have it under that name)";
  const switches = SWITCHES.filter(
    ({ file, off }) => attempt(() => readFileSync(file, "utf8").trim()) === off,
  );
  return switches.map(({ advice }) => advice).join("; ") || "`octant sandbox` shows what was tried";
}

const SWITCHES = [
  {
    file: "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    off: "1",
    advice:
      "AppArmor keeps programs from making user namespaces: add a profile for bwrap with `userns,` in it, " +
      "or set kernel.apparmor_restrict_unprivileged_userns=0",
  },
  {
    file: "/proc/sys/kernel/unprivileged_userns_clone",
    off: "0",
    advice: "user namespaces are switched off: set kernel.unprivileged_userns_clone=1",
  },
  {
    file: "/proc/sys/user/max_user_namespaces",
    off: "0",
    advice: "user namespaces are switched off: set user.max_user_namespaces=10000",
  },
] as const;
