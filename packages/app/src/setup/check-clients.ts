import type { Check } from "../health/check-workspace.ts";
import { createTry, ServerProblem, type Try } from "./ask-server.ts";
import { CLIENTS, type Scope } from "./clients.ts";
import { ConfigProblem } from "./config-format.ts";
import { type Install, typedCommand, whatStarts } from "./launch.ts";
import { isInstalled, type Machine } from "./places.ts";
import { readEntry, type Target, targetsOf } from "./plan.ts";

/** One line per client: is Octant registered, and does the entry still start? */
export async function checkClients(machine: Machine, install: Install): Promise<Check[]> {
  const tryStart = createTry(machine);
  const targets = CLIENTS.flatMap((client) =>
    (["user", "project"] as const).flatMap((scope) => targetsOf(client, scope, machine)),
  );
  const checks = await Promise.all(targets.map((target) => checkTarget(target, machine, install, tryStart)));
  return checks.filter((check) => check !== undefined);
}

/** A project has a line only when it has an entry. */
async function checkTarget(
  target: Target,
  machine: Machine,
  install: Install,
  tryStart: Try,
): Promise<Check | undefined> {
  const { client, scope, file } = target;
  const name = `client: ${client.title}${scope === "project" ? " in this project" : ""}`;
  const octant = typedCommand(machine);
  const again = `${octant} setup ${client.id}${scope === "project" ? " --scope project" : ""}`;
  try {
    const { start, url } = readEntry(target);
    if (url) return { name, ...(await checkUrl(url, file, scope, octant)) };
    if (!start && scope === "project") return undefined;
    if (!start) {
      if (!isInstalled(client, machine)) return { name, status: "ok", detail: "not installed", extra: true };
      return { name, status: "ok", detail: `not registered; ${again} does it` };
    }
    const untried = scope === "project" && untriedReason(whatStarts(start, install, machine), file, again);
    if (untried) return { name, ...untried };
    const tools = await tryStart(start, target);
    return { name, status: "ok", detail: `registered in ${file}, ${tools.length} tools` };
  } catch (cause) {
    if (cause instanceof ServerProblem)
      return {
        name,
        status: "fail",
        detail: `registered in ${file}, but ${cause.message}; ${again} repairs it`,
      };
    if (cause instanceof ConfigProblem)
      return { name, status: "warn", detail: `${file}:${cause.line}:${cause.column}: ${cause.message}` };
    if (cause instanceof Error && "syscall" in cause) return { name, status: "warn", detail: cause.message };
    throw cause;
  }
}

const MAX_ANSWER_MS = 5_000;

/** Connects only to a local server in the person's own file, and without its token. */
async function checkUrl({ origin, pathname, hostname }: URL, file: string, scope: Scope, octant: string) {
  const where = `registered in ${file}, at ${origin}${pathname}`;
  if (scope === "project" || !isThisMachine(hostname))
    return { status: "ok", detail: `${where}; not tried` } as const;
  try {
    const { status } = await fetch(`${origin}${pathname}`, { signal: AbortSignal.timeout(MAX_ANSWER_MS) });
    if (status === UNAUTHORIZED) return { status: "ok", detail: `${where}, which answers` } as const;
    return { status: "warn", detail: `${where}, where something else answers (${status})` } as const;
  } catch {
    const port = new URL(origin).port || "80";
    const detail = `${where}, where no server answers; ${octant} serve --http --port ${port} starts one there`;
    return { status: "warn", detail } as const;
  }
}

const UNAUTHORIZED = 401;
const isThisMachine = (host: string) => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host);

/** A project's file is untrusted: it may name any program, and npx runs programs from node_modules. */
function untriedReason(what: ReturnType<typeof whatStarts>, file: string, again: string) {
  if (what === "this") return undefined;
  if (what === "npx") return { status: "ok", detail: `registered in ${file}; not tried` } as const;
  const detail = `${file} starts something else, which was not tried; ${again} registers this octant`;
  return { status: "warn", detail } as const;
}
