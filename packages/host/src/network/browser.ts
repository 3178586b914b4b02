import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "@octant/core";
import { passedEnvironment } from "../processes/environment.ts";

/** A program that hands a URL to the user's browser. The URL is one argument; no shell ever sees it. */
interface Opener {
  readonly name: string;
  readonly args: readonly string[];
}

/** An opener that waits for the browser to be closed is not waited for. */
const PATIENCE_MS = 2_000;

/** Opens an http or https URL, as WHATWG spells it, and says with which program. */
export async function openInBrowser(url: URL, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string> {
  const { name, path, args } = findOpener(env);
  signal.throwIfAborted();
  const child = spawn(path, [...args, url.href], {
    detached: true,
    stdio: "ignore",
    env: { ...passedEnvironment(env), ...desktopEnvironment(env) },
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

function findOpener(env: NodeJS.ProcessEnv): Opener & { readonly path: string } {
  for (const opener of openersOf(process.platform, env)) {
    const path = findOnPath(opener.name, env);
    if (path !== undefined) return { ...opener, path };
  }
  throw new ToolError("UNSUPPORTED", "no browser can be opened here; show the person the URL instead", {
    what: "opening a browser",
    how: "run Octant in a desktop session with xdg-open (package xdg-utils) on PATH",
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

/** Only absolute folders: a relative one would be looked for in the project. */
function findOnPath(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const folders = (env["PATH"] ?? "").split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** What an opener needs beyond what any child may have, to find the session that the browser runs in. */
const desktopEnvironment = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries(
    ["DBUS_SESSION_BUS_ADDRESS", "XAUTHORITY", "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "WSL_DISTRO_NAME"]
      .filter((name) => env[name] !== undefined)
      .map((name) => [name, env[name]]),
  );

const failed = (program: string, cause?: unknown) =>
  new ToolError("EXEC_FAILED", `${program} could not open the browser`, { program }, { cause });
