import { LOCAL_CALLER, toWireService } from "@octant/app";
import { createNatsWorker } from "@octant/wire";
import { announce } from "./announce.ts";
import { type Io, UsageError } from "./command.ts";
import { explainNats, toNatsAddress } from "./nats-flags.ts";
import { openOctant } from "./open-octant.ts";
import { logLine } from "./workspace-flags.ts";

export interface WorkerFlags
  extends Readonly<Parameters<typeof openOctant>[0]>,
    Readonly<Parameters<typeof toNatsAddress>[1]> {
  readonly nats: string;
  readonly project: string | undefined;
  readonly json: boolean;
}

const PROJECT_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Works for a NATS server until it is asked to stop; running jobs then move to another worker. */
export async function runWorker(flags: WorkerFlags, io: Io): Promise<number> {
  if (flags.project !== undefined && !PROJECT_ID.test(flags.project))
    throw new UsageError(
      `invalid project '${flags.project}'`,
      "a project's id has up to 64 letters, digits, dots, dashes and underscores",
    );
  await using octant = await openOctant(flags, io, { command: "worker" });
  const worker = await createNatsWorker({
    ...toWireService(octant, (line) => void logLine(line, io)),
    ...toNatsAddress(flags.nats, flags, io),
    project: flags.project ?? octant.workspace.state.id,
    // The edge and its callers may be on another machine.
    caller: { ...LOCAL_CALLER, remote: true },
  }).catch(explainNats);
  const { project, state } = worker;
  const said = `Octant ${state === "active" ? "works" : "stands by"} for ${project}; Ctrl-C ends it.`;
  return await announce(flags.json ? JSON.stringify({ project, state }) : said, worker, io);
}
