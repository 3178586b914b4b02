import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "@octant/core";
import { passedEnvironment } from "../processes/environment.ts";
import { startTrusted } from "../programs/start-program.ts";
import { findTrusted, TRUSTED_PATH, type TrustedProgram } from "../programs/trusted-program.ts";

/** A program that hands a URL to the user's browser. The URL is one argument; no shell ever sees it. */
interface Opener {
  readonly name: string;
  readonly args: readonly string[];
}

/** Where an opener is searched by name. */
export type FindOpener = (name: string) => TrustedProgram | undefined;

/** Some openers run until the browser is closed; they have succeeded after this long. */
const PATIENCE_MS = 2_000;

/** Opens an http or https URL and returns the name of the program that did. */
export async function openInBrowser(
  url: URL,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  find: FindOpener = findTrusted,
): Promise<string> {
  const { name, path, args } = findOpener(env, find);
  signal.throwIfAborted();
  const child = startTrusted(path, [...args, url.href], {
    detached: true,
    stdio: "ignore",
    // xdg-open starts its helpers and the browser by name.
    env: { ...passedEnvironment(env), ...desktopEnvironment(env), PATH: TRUSTED_PATH },
  });
  child.unref();
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("exit", resolve);
    child.on("error", reject);
  });
  const done = new AbortController();
  try {
    const code = await Promise.race([ended, delay(PATIENCE_MS, 0, { signal: done.signal, ref: false })]);
    if (code === 0) return name;
  } catch (cause) {
    throw failed(name, cause);
  } finally {
    done.abort();
  }
  throw failed(name);
}

function findOpener(env: NodeJS.ProcessEnv, find: FindOpener): Opener & { readonly path: TrustedProgram } {
  for (const opener of openersOf(process.platform, env)) {
    const path = find(opener.name);
    if (path !== undefined) return { ...opener, path };
  }
  throw new ToolError("UNSUPPORTED", "no browser can be opened here; show the person the URL instead", {
    what: "opening a browser",
    how: "run Octant in a desktop session with xdg-open installed by the system (package xdg-utils)",
  });
}

function openersOf(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): readonly Opener[] {
  if (platform === "darwin") return [{ name: "open", args: [] }];
  if (platform === "win32") return [{ name: "rundll32.exe", args: ["url.dll,FileProtocolHandler"] }];
  const isWsl = env["WSL_DISTRO_NAME"] !== undefined;
  const hasDesktop = env["DISPLAY"] !== undefined || env["WAYLAND_DISPLAY"] !== undefined;
  return [
    ...(isWsl ? [{ name: "wslview", args: [] }] : []),
    ...(hasDesktop ? [{ name: "xdg-open", args: [] }] : []),
  ];
}

/** The variables that lead an opener to the desktop session, beyond those that every child gets. */
const desktopEnvironment = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries(
    ["DBUS_SESSION_BUS_ADDRESS", "XAUTHORITY", "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "WSL_DISTRO_NAME"]
      .filter((name) => env[name] !== undefined)
      .map((name) => [name, env[name]]),
  );

const failed = (program: string, cause?: unknown) =>
  new ToolError("EXEC_FAILED", `${program} could not open the browser`, { program }, { cause });
