import { ToolError, toOneLine } from "@octant/core";
import { findProcesses } from "./find-processes.ts";
import type { ProcessStatus } from "./protocol.ts";

/** Explains that a session is open elsewhere: in which process, and how to continue. Other errors stay as they are. */
export async function explainHolder(
  cause: unknown,
  session_id: string,
  env: NodeJS.ProcessEnv,
): Promise<unknown> {
  if (!(cause instanceof ToolError && cause.code === "LOCKED")) return cause;
  const holder = await findHolder(session_id, env);
  const where = holder
    ? `in process ${holder.pid} (${holder.command} in ${toOneLine(holder.roots.join(", "))})`
    : "in another Octant process";
  const how = `continue there, or leave it first; octant --fork ${session_id} continues in a copy`;
  return new ToolError("LOCKED", `this session is open ${where}; ${how}`, {}, { cause });
}

async function findHolder(session_id: string, env: NodeJS.ProcessEnv): Promise<ProcessStatus | undefined> {
  const found = await findProcesses(env);
  const statuses = await Promise.all(
    found.map(async (client) => {
      using process = client;
      // One that does not answer cannot be named.
      return await process.status().catch(() => undefined);
    }),
  );
  return statuses.find((one) => one?.sessions.some((session) => session.session_id === session_id));
}
