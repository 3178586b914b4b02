import { once } from "node:events";
import { pathToUri } from "@octant/host";
import { createNatsWorker } from "@octant/wire";
import { ENDING_SIGNALS, EXIT, type Io } from "./command.ts";
import { explainNats } from "./explain-nats.ts";
import { INSTRUCTIONS, LOCAL_CALLER } from "./octant.ts";
import { openOctant } from "./open-octant.ts";
import { loadVersion } from "./version.ts";
import { logLine } from "./workspace-flags.ts";

export interface WorkerFlags extends Readonly<Parameters<typeof openOctant>[0]> {
  readonly nats: string;
  readonly json: boolean;
}

/** Works for a NATS server until it is asked to stop; running jobs then move to another worker. */
export async function runWorker(flags: WorkerFlags, io: Io): Promise<number> {
  await using octant = openOctant(flags, io);
  const { jobs, state } = octant.workspace;
  const worker = await createNatsWorker({
    ...octant,
    dispatch: octant.wireDispatch,
    url: flags.nats,
    project: state.id,
    jobs,
    roots: octant.workspace.confinement.roots.map(pathToUri),
    // The edge and its callers may be on another machine.
    caller: { ...LOCAL_CALLER, remote: true },
    name: "octant",
    version: loadVersion(),
    instructions: INSTRUCTIONS,
    log: (line) => logLine(line, io),
  }).catch(explainNats);
  const asked = ENDING_SIGNALS.map((signal) => once(process, signal));
  const { project } = worker;
  io.stdout.write(
    flags.json ? `${JSON.stringify({ project })}\n` : `Octant works for ${project}; Ctrl-C ends it.\n`,
  );
  await Promise.race(asked);
  await worker.close();
  return EXIT.OK;
}
