import { once } from "node:events";
import { startLaunched } from "@octant/host";
import type { ServerStreams, StreamClientOptions, WireClient } from "@octant/wire/stream";
import { withoutKeys } from "../agent/choose-client.ts";

export interface CommandOptions extends Pick<StreamClientOptions, "text" | "heartbeatMs"> {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

const MAX_ENDING_MS = 5_000;
const MAX_REASON_CHARS = 400;

/**
 * Calls the server that a command runs on its stdin and stdout, such as `podman exec -i box octant serve --wire`. The
 * person's shell starts it; it is started again when it ends.
 */
export async function connectToCommand(command: string, options: CommandOptions): Promise<WireClient> {
  const { createStreamClient } = await import("@octant/wire/stream");
  const { env, cwd, ...rest } = options;
  return createStreamClient({
    ...rest,
    address: `exec:${command}`,
    open: () => start(command, { env: withoutKeys(env), cwd }),
  });
}

/** Calls a server at the other end of byte streams, such as those of a command in a container. */
export async function connectToStreams(options: StreamClientOptions): Promise<WireClient> {
  const { createStreamClient } = await import("@octant/wire/stream");
  return createStreamClient(options);
}

function start(
  command: string,
  options: { readonly env: NodeJS.ProcessEnv; readonly cwd: string | undefined },
): ServerStreams {
  // In a session of its own: Ctrl-C at the terminal cancels a call, and must not end the server.
  const child = startLaunched(command, [], { ...options, shell: true, detached: true });
  let stderrTail = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderrTail = (stderrTail + text).slice(-MAX_REASON_CHARS);
  });
  const ended = once(child, "close").then(
    ([code, signal]) => signal ?? `exit code ${code}`,
    (cause: Error) => cause.message,
  );
  return {
    input: child.stdout,
    output: child.stdin,
    reason: async () => `the command ended: ${await ended}${stderrTail && `: ${stderrTail.trim()}`}`,
    /** A server exits when its stdin closes; kill one that does not. */
    close() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), MAX_ENDING_MS);
      timer.unref();
      void ended.then(() => clearTimeout(timer));
    },
  };
}
