import { type Answers, type Profile, serveStdio } from "@octant/mcp";
import { followServer } from "@octant/wire";
import { ENDING_SIGNALS, EXIT, type Io } from "./command.ts";
import { createEdgeFeatures } from "./mcp-features.ts";
import { LOCAL_CALLER } from "./octant.ts";
import { openRemote, type RemoteFlags } from "./open-remote.ts";
import { askLate, followTools } from "./remote-features.ts";
import { logLine } from "./workspace-flags.ts";

export interface EdgeFlags extends RemoteFlags {
  readonly profile: Profile | undefined;
  readonly answers: Answers | undefined;
}

/** Serves one MCP client on stdin and stdout, with the tools of another process. */
export async function serveEdge(flags: EdgeFlags, io: Io): Promise<number> {
  const log = (line: string) => logLine(line, io);
  const client = await openRemote(flags, { text: flags.answers === "text" });
  const dispatch = askLate(client.dispatch);
  try {
    const follow = (onChange: () => void) => followTools(client.dispatch, LOCAL_CALLER, onChange);
    const { registry, ready } = await followServer(client, follow, log);
    const { name, version, instructions, roots = [] } = ready;
    const server = serveStdio({
      ...{ registry, dispatch },
      ...createEdgeFeatures({ registry, dispatch, root: roots[0], answers: flags.answers }),
      caller: LOCAL_CALLER,
      name,
      version,
      ...(instructions !== undefined && { instructions }),
      ...(flags.profile && { profile: flags.profile }),
      ...(flags.answers && { answers: flags.answers }),
      log,
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
