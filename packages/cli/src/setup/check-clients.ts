import type { Io } from "../command.ts";
import type { Check } from "../health.ts";
import { ServerProblem } from "./ask-server.ts";
import { CLIENTS, type Client, type Scope } from "./clients.ts";
import { ConfigProblem } from "./config-problem.ts";
import type { Start } from "./entry.ts";
import { thisInstall, whatStarts } from "./launch.ts";
import { fileOf, isInstalled, type Machine, thisMachine } from "./places.ts";
import type { Target } from "./plan.ts";
import { asStarted, readStart, tryStart } from "./verify.ts";

/** A line for each client: is Octant registered, and does what is registered still start? */
export async function checkClients(io: Pick<Io, "env" | "cwd">): Promise<Check[]> {
  const machine = thisMachine(io);
  const tryOnce = rememberTries(machine);
  const targets = CLIENTS.flatMap((client) =>
    (["user", "project"] as const).flatMap((scope) => targetOf(client, scope, machine)),
  );
  const checks = await Promise.all(targets.map((target) => checkTarget(target, machine, tryOnce)));
  return checks.filter((check) => check !== undefined);
}

function targetOf(client: Client, scope: Scope, machine: Machine): Target[] {
  const file = fileOf(client, scope, machine);
  return file === undefined ? [] : [{ client, scope, file }];
}

type Try = (target: Target, start: Start) => Promise<string[]>;

/** Most clients start the very same. */
function rememberTries(machine: Machine): Try {
  const tries = new Map<string, Promise<string[]>>();
  return (target, start) => {
    const key = JSON.stringify(asStarted(start, target, machine));
    const tried = tries.get(key) ?? tryStart(start, target, machine);
    tries.set(key, tried);
    return tried;
  };
}

/** A project has a line only when it has an entry. */
async function checkTarget(target: Target, machine: Machine, tryOnce: Try): Promise<Check | undefined> {
  const { client, scope, file } = target;
  const name = `client: ${client.title}${scope === "project" ? " in this project" : ""}`;
  const again = `octant setup ${client.id}${scope === "project" ? " --scope project" : ""}`;
  try {
    const start = readStart(target);
    if (!start && scope === "project") return undefined;
    if (!start) {
      const detail = isInstalled(client, machine) ? `not registered; ${again} does it` : "not installed";
      return { name, status: "ok", detail };
    }
    const untried = scope === "project" && untriedReason(start, file, again, machine);
    if (untried) return { name, ...untried };
    const tools = await tryOnce(target, start);
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

/** A project comes from whoever wrote it: its file may name any program, and npx runs what lies in its node_modules. */
function untriedReason(start: Start, file: string, again: string, machine: Machine) {
  const what = whatStarts(start, thisInstall(), machine);
  if (what === "this") return undefined;
  if (what === "npx") return { status: "ok", detail: `registered in ${file}; not tried` } as const;
  const detail = `${file} starts something else, which was not tried; ${again} registers this octant`;
  return { status: "warn", detail } as const;
}
