import { ToolError } from "@octant/core";
import { findPowerShell, findTrusted, invalid, runTrusted, type TrustedProgram } from "@octant/host";
import type { Point } from "./screen.ts";

/** Runs desktop programs, such as xdotool, outside the sandbox, in the person's session. */
export interface Desktop {
  /** UNSUPPORTED, with the package, when it is not installed; EXEC_FAILED with its error output when it fails. */
  run(program: string, args: readonly string[], signal: AbortSignal, input?: string): Promise<Buffer>;
  find(program: string): TrustedProgram | undefined;
  /** The environment of display clients. */
  readonly env: NodeJS.ProcessEnv;
}

const RUN_MS = 20_000;
const MAX_STDERR_CHARS = 300;

export function createDesktop(given: NodeJS.ProcessEnv): Desktop {
  // Without a UTF-8 locale xdotool cannot read the text to type.
  const env = { ...Object.fromEntries(PASSED.map((name) => [name, given[name]])), LC_ALL: "C.UTF-8" };
  const find = (program: string) => (program === POWERSHELL ? findPowerShell() : findTrusted(program));
  return {
    find,
    env,
    async run(program, args, signal, input) {
      const path = find(program);
      if (path === undefined) throw missing(program);
      const { code, stdout, stderr } = await runTrusted(path, args, {
        env,
        timeoutMs: RUN_MS,
        signal,
        ...(input !== undefined && { input }),
      });
      if (code === 0) return stdout;
      const said = stderr.trim().split("\n").at(-1)?.slice(0, MAX_STDERR_CHARS) || `it ended with ${code}`;
      throw new ToolError("EXEC_FAILED", `${program} failed: ${said}`, { program });
    },
  };
}

export const POWERSHELL = "powershell.exe";

/** The variables that a display client or PowerShell needs, and nothing else. */
const PASSED = "DISPLAY XAUTHORITY HOME PATH WSL_INTEROP SystemRoot TEMP USERPROFILE".split(" ");

export const missing = (program: string) => {
  const how = `apt-get install ${PACKAGES[program] ?? program}`;
  const message = `${program} is not installed; the screen needs it (${how})`;
  return new ToolError("UNSUPPORTED", message, { what: program, how });
};

const PACKAGES: Readonly<Record<string, string>> = { import: "imagemagick", ffprobe: "ffmpeg" };

/** `Control+Shift+a` as its modifiers and its key; a plus sign at the end is a key. */
export function parseChord(chord: string): { modifiers: readonly string[]; key: string } {
  const names = chord.split(/\+(?=.)/);
  return { modifiers: names.slice(0, -1), key: names.at(-1) ?? "" };
}

export const noModifier = (name: string) =>
  invalid("keys", `'${name}' is not a modifier; they are Control, Alt, Shift and Meta`);
export const noKey = (name: string) => invalid("keys", `there is no key '${name}'`);

export const offScreen = ({ x, y }: Point, width: number, height: number) =>
  invalid("target", `${x},${y} is not on the screen, which has ${width}x${height} pixels`);
