import { divideVariables } from "./launcher.ts";
import type { Mount } from "./mount.ts";
import type { Level } from "./sandbox.ts";

/**
 * macOS: the same places as rules of the system's sandbox. Unverified: written without a Mac.
 * Nothing is bound there, so secrets are refused instead of missing, and the temp folder is the real one.
 */
export const createSandboxExecLevel = (): Level => ({
  level: "sandbox-exec",
  binds: false,
  detail:
    "sandbox-exec of macOS, unverified: only the workspace, temp and caches writable, secrets unreadable; processes and sockets are not isolated",
  launch(command, { mounts, ownNetwork }) {
    const { argv, folder, env } = command;
    const { passed, inside } = divideVariables(env);
    const profile = toProfile(mounts, ownNetwork);
    return {
      argv: [
        "/usr/bin/sandbox-exec",
        "-p",
        profile,
        "/usr/bin/env",
        ...Object.entries(inside).map((pair) => pair.join("=")),
        ...argv,
      ],
      env: passed,
      folder,
      launcher: false,
    };
  },
});

const ALWAYS_WRITABLE = ["/dev", "/tmp", "/private/tmp", "/private/var/tmp", "/private/var/folders"];

/** The last rule that matches counts, as with mounts. */
function toProfile(mounts: readonly Mount[], ownNetwork: boolean): string {
  return [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    ...ALWAYS_WRITABLE.map((path) => `(allow file-write* (subpath ${quote(path)}))`),
    ...mounts.flatMap(toRules),
    ...(ownNetwork ? ["(deny network*)", '(allow network* (local ip "localhost:*"))'] : []),
  ].join("\n");
}

function toRules(mount: Mount): string[] {
  if (!("source" in mount) || mount.at === "/") return [];
  const place = `(subpath ${quote(mount.at)})`;
  if (mount.source !== mount.at)
    return mount.kind === "read" ? [`(deny file-read* file-write* ${place})`] : [];
  return mount.kind === "read"
    ? [`(deny file-write* ${place})`]
    : [`(allow file-read* file-write* ${place})`];
}

const quote = (text: string): string => `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
