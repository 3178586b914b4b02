import { POWERSHELL } from "./program.ts";

/** The kind of desktop that Octant drives here, and the reason when it cannot. */
export interface System {
  readonly name: "X11" | "macOS" | "Windows";
  readonly why?: { readonly message: string; readonly how: string } | undefined;
}

export interface SystemOptions {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  find(program: string): unknown;
}

/** In WSL a usable X11 display comes first: the person has installed xdotool for it. */
export function findSystem(options: SystemOptions): System {
  const { platform, find } = options;
  if (platform === "darwin") return { name: "macOS", why: find("cliclick") ? undefined : NO_CLICLICK };
  const why = platform === "linux" ? reasonAgainstX11(options) : undefined;
  if (platform === "linux" && !why) return { name: "X11" };
  if (find(POWERSHELL)) return { name: "Windows" };
  if (why) return { name: "X11", why };
  return {
    name: "X11",
    why: {
      message: `the screen works on Linux with X11 and, unverified, on macOS and Windows, not on ${platform}; use the browser profiles`,
      how: X11_ONLY,
    },
  };
}

export const X11_ONLY = "run Octant on Linux with X11";

const NO_CLICLICK = {
  message: "cliclick is not installed; the screen needs it on macOS (unverified there)",
  how: "brew install cliclick",
};

function reasonAgainstX11({ env, find }: SystemOptions): System["why"] {
  if (env["WAYLAND_DISPLAY"] && !env["DISPLAY"])
    return {
      message: "this session is Wayland, which does not let programs see or control each other",
      how: "log in to an X11 session, or run the program under Xvfb",
    };
  if (!env["DISPLAY"])
    return {
      message: "there is no display: DISPLAY is not set",
      how: "run Octant in a desktop session, or under Xvfb",
    };
  if (!find("xdotool"))
    return {
      message: "xdotool is not installed; the screen needs it",
      how: "apt-get install xdotool x11-utils maim ffmpeg",
    };
  return undefined;
}
