import { LOCAL_CALLER, toWireService } from "@octant/app";
import { serveStream } from "@octant/wire/stream";
import { ENDING_SIGNALS, EXIT, type Io, onSignals } from "./command.ts";
import type { ServeFlags } from "./commands/serve.ts";
import { openOctant } from "./open-octant.ts";
import { logLine } from "./workspace-flags.ts";

/** Programs on the wire store and link their results; subscribers of broadcasts catch up with `event`. */
export const WIRE_TOOLS = { toolConfig: { enable: ["core", "wire", "store"] } };

/** Serves the process that started this one, until it closes stdin. */
export async function serveWire(flags: ServeFlags, io: Io): Promise<number> {
  await using octant = await openOctant(flags, io, { ...WIRE_TOOLS, command: "serve --wire" });
  const { stdin: input, stdout: output } = io;
  const server = serveStream({
    ...toWireService(octant, (line) => void logLine(line, io)),
    input,
    output,
    caller: LOCAL_CALLER,
  });
  using _signals = onSignals(ENDING_SIGNALS, server.close);
  await server.closed;
  return EXIT.OK;
}
