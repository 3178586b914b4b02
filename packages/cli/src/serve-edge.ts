import { askLate, createEdgeControl, followTools, LOCAL_CALLER, openEdge } from "@octant/app";
import type { Answers, Profile } from "@octant/core";
import { serveStdio } from "@octant/mcp";
import { ENDING_SIGNALS, EXIT, type Io } from "./command.ts";
import { openRemote, type RemoteFlags } from "./open-remote.ts";
import { loadVersion } from "./version.ts";
import { logLine } from "./workspace-flags.ts";

export interface EdgeFlags extends RemoteFlags {
  readonly profile: Profile | undefined;
  readonly answers: Answers | undefined;
}

/** Serves one MCP client on stdin and stdout, with the tools of another process. */
export async function serveEdge(flags: EdgeFlags, io: Io): Promise<number> {
  const log = (line: string) => logLine(line, io);
  const client = await openRemote(flags, io.env, { text: flags.answers !== "structured" });
  const about = { command: "edge", version: loadVersion(), env: io.env, log };
  const { dispatch, ...control } = createEdgeControl({ ...about, dispatch: askLate(client.dispatch) });
  try {
    const edge = await openEdge({
      server: client,
      dispatch,
      follow: (onChange) => followTools(client.dispatch, LOCAL_CALLER, onChange),
      answers: flags.answers,
      log,
    });
    using _socket = control.open(edge.roots, edge.registry);
    const server = serveStdio({
      ...edge,
      onClient: control.onClient,
      caller: LOCAL_CALLER,
      ...(flags.profile && { profile: flags.profile }),
      ...(flags.answers && { answers: flags.answers }),
      input: io.stdin,
      output: io.stdout,
    });
    for (const signal of ENDING_SIGNALS) process.once(signal, () => void server.close());
    await server.closed;
    return EXIT.OK;
  } finally {
    client.close();
  }
}
