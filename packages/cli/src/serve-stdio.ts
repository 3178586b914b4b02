import { describeSandbox, type Octant, type OwnTool } from "@octant/app";
import type { HandshakeResults, StdioOptions } from "@octant/mcp";
import { ENDING_SIGNALS, EXIT, type Io } from "./command.ts";
import type { ServeFlags } from "./commands/serve.ts";
import { openOctant } from "./open-octant.ts";
import { logLine } from "./workspace-flags.ts";

export interface Start extends Pick<StdioOptions, "handshake"> {
  /** Stores the handshake results for the next start. */
  readonly store?: ((results: HandshakeResults) => void) | undefined;
}

/** The process must exit within a second of being asked to. */
const MAX_CLOSING_MS = 700;

/** Serves one client until it disconnects or we are asked to stop. */
export async function serveStdio(flags: ServeFlags, io: Io, { handshake, store }: Start): Promise<number> {
  process.on("uncaughtException", (cause) => {
    logLine(`ends after an uncaught error: ${cause instanceof Error ? cause.stack : cause}`, io);
    process.exit(EXIT.FAILED);
  });
  await using octant = await openOctant(flags, io, { command: "serve" });
  const server = octant.serveStdio({
    profile: flags.profile,
    answers: flags.answers,
    input: io.stdin,
    output: io.stdout,
    ...(handshake && { handshake }),
  });
  // The tools of a pack may change while the settings stay the same.
  if (octant.packs.count === 0) store?.(server.handshakeResults());
  settleLater(octant, io);
  // Work that ignores its cancellation must not keep the process alive.
  const endSoon = () => setTimeout(() => process.exit(EXIT.OK), MAX_CLOSING_MS).unref();
  io.stdin.once("end", endSoon);
  for (const signal of ENDING_SIGNALS) {
    process.once(signal, () => {
      endSoon();
      server.close();
    });
  }
  await server.closed;
  // Jobs are cancelled first, so that none of them mistakes its killed process for its result.
  const closed = octant.close();
  await octant.workspace.processes.leave();
  await closed;
  return EXIT.OK;
}

/** Delayed: each of these takes some milliseconds, and the client is still in its handshake. */
const SETTLE_AFTER_MS = 1_000;

function settleLater({ workspace }: Octant<OwnTool>, io: Io): void {
  const settle = async () => logLine(await describeSandbox(workspace.sandbox), io);
  setTimeout(() => void settle(), SETTLE_AFTER_MS).unref();
}
