import { ToolError } from "@octant/core";
import type {
  ContainerEngine,
  ContainerSpec,
  ContainerState,
  ExecProcess,
  ExecSpec,
} from "../engines/engine.ts";
import type { Project } from "../projects/project.ts";
import type { RunInContainer } from "../workspaces/workspaces.ts";

export interface ContainersOptions {
  readonly engine: ContainerEngine;
  /** Names this hub, so that it finds its own containers again. */
  readonly hub_id: string;
  /** Everything of the container but its name and labels. */
  specOf(project: Project): Promise<Omit<ContainerSpec, "name" | "labels">>;
}

export type Containers = ReturnType<typeof createContainers>;

const HUB_LABEL = "octant.hub";
const PROJECT_LABEL = "octant.project";
const STOP_GRACE_MS = 5_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const MAX_STDERR_CHARS = 4_000;

/** The containers of the projects, at most one each; the engine's labels say which is whose. */
export function createContainers({ engine, hub_id, specOf }: ContainersOptions) {
  const working = new Map<string, Promise<unknown>>();
  /** One change of a project's container at a time. */
  const inTurn = <T>(project_id: string, work: () => Promise<T>): Promise<T> => {
    const next = (working.get(project_id) ?? Promise.resolve()).then(work, work);
    const settled = next.catch(() => {});
    working.set(project_id, settled);
    void settled.then(() => working.get(project_id) === settled && working.delete(project_id));
    return next;
  };
  const labelsOf = (project_id: string) => ({ [HUB_LABEL]: hub_id, [PROJECT_LABEL]: project_id });
  const find = async (project_id: string): Promise<ContainerState | undefined> =>
    (await engine.list(labelsOf(project_id)))[0];
  const start = async (project: Project): Promise<ContainerState> => {
    const found = await find(project.id);
    if (found?.state === "running") return found;
    const id =
      found?.id ??
      (await engine.create({
        ...(await specOf(project)),
        name: `octant-${project.name}-${project.id.slice(-NAME_CHARS)}`.toLowerCase(),
        labels: labelsOf(project.id),
      }));
    await engine.start(id);
    const started = await engine.inspect(id);
    if (started?.state === "running") return started;
    throw new ToolError(
      "UPSTREAM_ERROR",
      `the container ended at once (exit code ${started?.exit_code ?? "unknown"}); container.logs shows why`,
      {},
    );
  };
  const removeFound = async (project_id: string) => {
    const found = await find(project_id);
    if (!found) return;
    await engine.stop(found.id, STOP_GRACE_MS);
    await engine.remove(found.id);
  };
  const exec = async (project: Project, spec: ExecSpec): Promise<ExecProcess> => {
    const { id } = await inTurn(project.id, () => start(project));
    return engine.exec(id, spec);
  };
  const run: RunInContainer = async (project, command, signal) => {
    signal?.throwIfAborted();
    const process = await exec(project, command);
    const kill = () => void process.kill();
    signal?.addEventListener("abort", kill, { once: true });
    try {
      process.stdin.end();
      const chunks: Buffer[] = [];
      let size = 0;
      let stderr = "";
      process.stdout.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_OUTPUT_BYTES) kill();
        else chunks.push(chunk);
      });
      process.stderr.setEncoding("utf8").on("data", (text: string) => {
        stderr = (stderr + text).slice(-MAX_STDERR_CHARS);
      });
      const code = await process.exited;
      signal?.throwIfAborted();
      if (size > MAX_OUTPUT_BYTES)
        throw new ToolError(
          "TOO_LARGE",
          `the command in the container printed more than ${MAX_OUTPUT_BYTES} bytes`,
          {
            limit: MAX_OUTPUT_BYTES,
          },
        );
      return { code, stdout: Buffer.concat(chunks), stderr };
    } finally {
      signal?.removeEventListener("abort", kill);
    }
  };
  return {
    find,
    exec,
    run,
    start: (project: Project) => inTurn(project.id, () => start(project)),
    stop: (project_id: string) =>
      inTurn(project_id, async () => {
        const found = await find(project_id);
        if (found?.state === "running") await engine.stop(found.id, STOP_GRACE_MS);
      }),
    remove: (project_id: string) => inTurn(project_id, () => removeFound(project_id)),
    /** Creates it again, from the current settings of its project. */
    refresh: (project: Project) =>
      inTurn(project.id, async () => {
        await removeFound(project.id);
        return start(project);
      }),
    /** Those of this hub, also of projects that are gone. */
    list: () => engine.list({ [HUB_LABEL]: hub_id }),
    projectOf: ({ labels }: ContainerState): string | undefined => labels[PROJECT_LABEL],
  };
}

const NAME_CHARS = 8;
