import { connectToStreams, type OpenAgentOptions } from "@octant/app";
import type { Containers } from "../containers/containers.ts";
import type { ExecProcess } from "../engines/engine.ts";
import type { Project } from "../projects/project.ts";
import type { Workspace, Workspaces } from "../workspaces/workspaces.ts";

export interface ConnectionOptions {
  readonly containers: Pick<Containers, "exec">;
  readonly workspaces: Pick<Workspaces, "pathInContainer">;
  /** The command in a container that serves the tools of a workspace on its stdin and stdout. */
  readonly serverArgv: (path: string) => readonly string[];
}

const SERVER_END_MS = 5_000;
const MAX_REASON_CHARS = 400;

/** Starts the tools in the project's container and connects to them. A server that does not start is an error. */
export async function connectToContainer(
  { containers, workspaces, serverArgv }: ConnectionOptions,
  project: Project,
  workspace: Workspace,
): Promise<NonNullable<OpenAgentOptions["host"]>> {
  const cwd = workspaces.pathInContainer(workspace);
  const address = `hub:${workspace.id}`;
  const wire = await connectToStreams({
    address,
    open: async () => toStreams(await containers.exec(project, { argv: serverArgv(cwd), cwd })),
  });
  try {
    await wire.ready();
  } catch (cause) {
    wire.close();
    throw cause;
  }
  return { dispatch: wire.dispatch, address, close: () => wire.close() };
}

function toStreams(process: ExecProcess) {
  let tail = "";
  process.stderr.setEncoding("utf8").on("data", (text: string) => {
    tail = (tail + text).slice(-MAX_REASON_CHARS);
  });
  const ended = process.exited.then(
    (code) => `exit code ${code ?? "unknown"}`,
    (cause: Error) => cause.message,
  );
  return {
    input: process.stdout,
    output: process.stdin,
    reason: async () => `the tools in the container ended: ${await ended}${tail && `: ${tail.trim()}`}`,
    /** A server exits when its stdin closes; one that does not is killed. */
    close() {
      process.stdin.end();
      const timer = setTimeout(() => void process.kill(), SERVER_END_MS);
      timer.unref();
      void ended.then(() => clearTimeout(timer));
    },
  };
}
