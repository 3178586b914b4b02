import { openEdge } from "@octant/app";
import { openStateFolder } from "@octant/host";
import { createTokenStore } from "@octant/http";
import { serveHttp } from "@octant/mcp";
import { createNatsClient } from "@octant/wire";
import { EXIT, type Io } from "./command.ts";
import type { ServeFlags } from "./commands/serve.ts";
import { explainNats, toNatsAddress } from "./nats-flags.ts";
import { checkFlags, type HttpTarget, serveUntilEnded } from "./serve-http.ts";
import { logLine } from "./workspace-flags.ts";

/** Serves MCP over HTTP with the tools of the workers on a NATS server; it has none of its own. */
export async function serveNatsEdge(flags: ServeFlags & { readonly nats: string }, io: Io): Promise<number> {
  checkFlags(flags);
  const { nats, project } = flags;
  const log = (line: string) => logLine(line, io);
  const client = await createNatsClient({
    ...toNatsAddress(nats, flags, io),
    ...(project !== undefined && { project }),
    text: flags.answers !== "structured",
  }).catch(explainNats);
  try {
    client.onTakeover(() => log(`another worker has taken over ${client.project}: calls now see its files`));
    const follow = async (onChange: () => void) => client.onTools(onChange);
    const { dispatch } = client;
    const edge = await openEdge({ server: client, dispatch, follow, answers: flags.answers, log });
    const state = openStateFolder({ roots: [], env: io.env, warn: log });
    const tokens = createTokenStore({ folder: state.folder("tokens") });
    const target: HttpTarget = {
      serveHttp: (serving) => serveHttp({ ...serving, ...edge, tokens, project: client.project }),
      state,
      tokens,
      subject: `the workers of ${client.project}`,
      status: Promise.resolve(`serves the workers of ${client.project}`),
    };
    await serveUntilEnded(target, flags, io);
    return EXIT.OK;
  } finally {
    await client.close();
  }
}
