import { connectToStreams, type OpenAgentOptions } from "@octant/app";
import type { Containers, Waiting } from "../containers/containers.ts";
import type { ExecProcess } from "../engines/engine.ts";
import type { PlaceFence } from "../hosts/place-fence.ts";
import type { Project } from "../projects/project.ts";
import type { Workspace, Workspaces } from "../workspaces/workspaces.ts";

export interface ConnectionOptions {
  readonly containers: Pick<Containers, "execTools" | "explain" | "makeRoom">;
  readonly workspaces: Pick<Workspaces, "pathInContainer">;
  /** Makes a new workspace ready for work. */
  prepare(project: Project, workspace: Workspace, cwd: string, signal?: AbortSignal): Promise<void>;
}

const SERVER_END_MS = 5_000;
const MAX_SILENCE_MS = 120_000;
const MAX_REASON_CHARS = 400;

/** Starts the tools in the project's container and connects to them; `ready` rejects when they do not start. */
export async function connectToContainer(
  { containers, workspaces, prepare }: ConnectionOptions,
  project: Project,
  workspace: Workspace,
  /** `onEnded`: the tools ended without being asked to. */
  { onEnded, waiting }: { onEnded(reason: string): void; readonly waiting: Waiting },
  fence: PlaceFence,
): Promise<NonNullable<OpenAgentOptions["host"]>> {
  const cwd = workspaces.pathInContainer(workspace);
  const address = `hub:${workspace.id}`;
  const enter = async () => {
    for (;;) {
      const isLost = await containers.makeRoom(project, workspace.id, waiting);
      try {
        return await prepare(project, workspace, cwd, waiting.signal);
      } catch (cause) {
        // Another host prepares it.
        if (!isLost()) throw cause;
      }
    }
  };
  await enter();
  const explain = () => containers.explain(project, workspace.id).catch(() => undefined);
  let isFirst = true;
  const wire = await connectToStreams({
    address,
    // Its end closes the stream. A server that starts while many others do is slow, and another one would be no faster.
    silenceMs: MAX_SILENCE_MS,
    async open() {
      // The workspace may have come to another host.
      if (!isFirst) await enter();
      isFirst = false;
      const process = await containers.execTools(project, { cwd, workspace_id: workspace.id, waiting });
      fence.enter(process.place);
      return toStreams(process, explain, onEnded);
    },
  });
  const ready = wire.ready();
  // Users of the connection wait for it.
  ready.catch(() => {});
  return { dispatch: fence.guard(wire.dispatch), address, ready, close: () => wire.close() };
}

function toStreams(
  process: ExecProcess,
  explain: () => Promise<string | undefined>,
  onEnded: (reason: string) => void,
) {
  let tail = "";
  let isClosed = false;
  process.stderr.setEncoding("utf8").on("data", (text: string) => {
    tail = (tail + text).slice(-MAX_REASON_CHARS);
  });
  const ended = process.exited.then(
    (code) => `exit code ${code ?? "unknown"}`,
    (cause: Error) => cause.message,
  );
  const reason = (async () => {
    const how = await ended;
    const why = isClosed ? undefined : await explain();
    return `the tools in the container ended: ${why ?? how}${tail && `: ${tail.trim()}`}`;
  })();
  void reason.then((text) => isClosed || onEnded(text));
  return {
    input: process.stdout,
    output: process.stdin,
    reason: () => reason,
    /** A server exits when its stdin closes; one that does not is killed. */
    close() {
      // The client also closes a connection that has ended.
      isClosed = !process.stdout.readableEnded;
      process.stdin.end();
      const timer = setTimeout(() => void process.kill().catch(() => {}), SERVER_END_MS);
      timer.unref();
      void ended.then(() => clearTimeout(timer));
    },
  };
}
