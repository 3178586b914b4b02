import { action, counted, defineTool, invalidArgument, ToolError } from "@octant/core";
import { z } from "zod";
import { CONTAINER_STATES, type ContainerState } from "../engines/engine.ts";
import type { previewAction } from "../preview/preview-action.ts";
import { findProject, ProjectId } from "../projects/project.ts";
import type { HubStore } from "../store/hub-store.ts";
import { WORKSPACES_IN_CONTAINER, WorkspaceId, type Workspaces } from "../workspaces/workspaces.ts";
import { collectOutput, MAX_OUTPUT_BYTES } from "./collect-output.ts";
import type { Containers } from "./containers.ts";
import { OutputRef, openExecOutputs } from "./exec-outputs.ts";
import { fileTooLarge } from "./limit-watch.ts";

export interface ContainerToolOptions {
  readonly store: HubStore;
  readonly containers: Containers;
  readonly workspaces: Pick<Workspaces, "find" | "pathInContainer">;
  /** The whole outputs of commands. */
  outputsOf(project_id: string): string;
  /** Ids of the sessions at work in the project. */
  activeIn(project_id: string): Promise<readonly string[]>;
  readonly preview: ReturnType<typeof previewAction>;
}

const EXAMPLE_ID = "project_00mwhcy9qe093ycmtw78se8wgvd80rqnmr07";
const One = z.strictObject({ project_id: ProjectId });
const projectOf = ({ project_id }: { readonly project_id: string }) => project_id;
const WRITE = { access: "write", timing: "async_medium", intent: "apply" } as const;
const READ = { access: "read", timing: "sync", intent: "inspect" } as const;
const MAX_ANSWER_BYTES = 32 * 1024;
const DEFAULT_TAIL = 200;
const MAX_TAIL = 10_000;
const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 3_600_000;

const State = z.object({
  project_id: z.string(),
  state: z.enum([...CONTAINER_STATES, "none"]).describe("none: it has not been created yet"),
  engine: z.string(),
  isolation: z.string().describe("What confines the container"),
  exit_code: z.int().optional().describe("Of its last end"),
});
const Hit = z.object({ limit: z.enum(["memory_mb", "pids", "disk_mb"]), message: z.string() });
const failing = <T extends object>(title: string, more: T) =>
  [{ title, input: { project_id: EXAMPLE_ID, ...more }, fails: "NOT_FOUND" }] as const;

export const containerTool = ({
  store,
  containers,
  workspaces,
  outputsOf,
  activeIn,
  preview,
}: ContainerToolOptions) => {
  const toState = async (project_id: string, found: ContainerState | undefined) => {
    const { name, detail } = await containers.engine.status();
    const exit_code = found?.exit_code;
    return {
      ...{ project_id, state: found?.state ?? ("none" as const), engine: name, isolation: detail },
      ...(exit_code !== undefined && { exit_code }),
    };
  };
  const now = async (project_id: string) => {
    const found = await containers.find(project_id);
    return toState(project_id, found && (await containers.engine.inspect(found.id)));
  };
  const refuseActive = async (project_id: string, force: boolean) => {
    const active = await activeIn(project_id);
    if (active.length === 0 || force) return;
    const are = active.length === 1 ? "is" : "are";
    const message = `${counted(active.length, "session")} ${are} at work in the container; end them first, or pass force`;
    throw new ToolError("LOCKED", message, {});
  };
  return defineTool({
    name: "container",
    summary: "The container of a project: start and stop it, run commands in it, see what it uses.",
    actions: {
      start: action({
        summary:
          "Start the container of a project; the first start creates it, and builds its image when it has one.",
        ...WRITE,
        input: One,
        output: State,
        errors: ["NOT_FOUND", "UNSUPPORTED", "UPSTREAM_ERROR", "INVALID_ARGUMENT"],
        examples: failing("By project", {}),
        projectOf,
        async run({ project_id }) {
          await containers.start(await findProject(store, project_id));
          return now(project_id);
        },
      }),
      stop: action({
        summary: "Stop the container of a project; its workspaces stay.",
        ...WRITE,
        input: One.extend({
          force: z.boolean().default(false).describe("Also while sessions are at work in it"),
        }),
        output: State,
        errors: ["NOT_FOUND", "LOCKED", "UPSTREAM_ERROR"],
        examples: failing("By project", {}),
        projectOf,
        async run({ project_id, force }) {
          await findProject(store, project_id);
          await refuseActive(project_id, force);
          await containers.stop(project_id);
          return now(project_id);
        },
      }),
      refresh: action({
        summary: "Create the container again, from the current settings and image of its project.",
        ...WRITE,
        input: One.extend({
          force: z.boolean().default(false).describe("Also while sessions are at work in it"),
        }),
        output: State,
        errors: ["NOT_FOUND", "LOCKED", "UNSUPPORTED", "UPSTREAM_ERROR", "INVALID_ARGUMENT"],
        examples: failing("By project", {}),
        projectOf,
        async run({ project_id, force }) {
          const project = await findProject(store, project_id);
          await refuseActive(project_id, force);
          await containers.refresh(project);
          return now(project_id);
        },
      }),
      preview,
      logs: action({
        summary:
          "What happened to the container and what its main process printed; or the whole output of a command.",
        ...READ,
        input: One.extend({
          tail: z.int().min(1).max(MAX_TAIL).default(DEFAULT_TAIL).describe("The last lines"),
          since: z.iso.datetime().optional().describe("Only later lines"),
          ref: OutputRef.optional().describe("Of an answer of exec: its whole output instead"),
          offset: z.int().min(0).default(0).describe("With ref: the first byte"),
        }),
        output: z.object({
          text: z.string(),
          next_offset: z.int().optional(),
          total_bytes: z.int().optional(),
        }),
        errors: ["NOT_FOUND", "UPSTREAM_ERROR"],
        examples: failing("The last lines", { tail: 50 }),
        projectOf,
        async run({ project_id, tail, since, ref, offset }) {
          await findProject(store, project_id);
          if (ref !== undefined)
            return openExecOutputs(outputsOf(project_id)).read(ref, offset, MAX_ANSWER_BYTES);
          const found = await containers.find(project_id);
          const since_ms = since === undefined ? undefined : Date.parse(since);
          const printed = found ? await containers.engine.logs(found.id, { tail, since_ms }) : "";
          // Both begin with the time in the same form.
          const lines = [...containers.logOf(project_id).lines(), ...printed.split("\n")]
            .filter((line) => line !== "" && (since_ms === undefined || timeOf(line) > since_ms))
            .toSorted((a, b) => timeOf(a) - timeOf(b));
          return { text: lines.slice(-tail).join("\n") };
        },
      }),
      exec: action({
        summary: "Run a command in the container of a project, which is started when it does not run.",
        ...WRITE,
        destructive: true,
        input: One.extend({
          command: z
            .union([z.string().min(1), z.array(z.string()).min(1)])
            .describe("A list is run as it is, a text by sh"),
          workspace_id: WorkspaceId.optional().describe("The workspace it runs in"),
          cwd: z
            .string()
            .max(4_096)
            .regex(
              /^\//,
              "a path in the container is absolute, such as /workspaces; workspace_id names a workspace",
            )
            .optional()
            .describe("An absolute path in the container"),
          timeout_ms: z.int().min(1).max(MAX_TIMEOUT_MS).default(DEFAULT_TIMEOUT_MS),
        }),
        output: z.object({
          exit_code: z.int().nullable().describe("null: a signal ended it"),
          stdout: z.string(),
          stderr: z.string(),
          stdout_ref: z.string().optional().describe("For logs, when stdout is longer than shown"),
          stderr_ref: z.string().optional(),
          limits_hit: z.array(Hit).readonly(),
        }),
        errors: ["NOT_FOUND", "TIMEOUT", "TOO_LARGE", "UNSUPPORTED", "UPSTREAM_ERROR", "INVALID_ARGUMENT"],
        examples: failing("List files", { command: ["ls", "-l"] }),
        projectOf,
        async run({ project_id, command, workspace_id, cwd, timeout_ms }, { signal }) {
          const project = await findProject(store, project_id);
          if (workspace_id !== undefined && cwd !== undefined)
            throw invalidArgument("cwd", "give workspace_id or cwd, not both");
          const place = workspace_id === undefined ? cwd : await placeOf(project_id, workspace_id);
          const argv = typeof command === "string" ? ["sh", "-c", command] : command;
          await containers.start(project, workspace_id);
          const newHits = containers.watchLimits(project, workspace_id);
          const late = AbortSignal.timeout(timeout_ms);
          const start = () =>
            containers.exec(project, {
              ...{ argv, cwd: place ?? WORKSPACES_IN_CONTAINER },
              ...(workspace_id !== undefined && { workspace_id }),
            });
          const ran = await collectOutput(start, MAX_OUTPUT_BYTES, AbortSignal.any([signal, late])).catch(
            (cause: unknown) => {
              if (!late.aborted || signal.aborted) throw cause;
              const message = `the command was killed after ${timeout_ms} ms`;
              throw new ToolError("TIMEOUT", message, { after_ms: timeout_ms });
            },
          );
          if (ran.isTooLarge) {
            const message = `the command printed more than ${MAX_OUTPUT_BYTES} bytes and was killed`;
            throw new ToolError("TOO_LARGE", message, { limit: MAX_OUTPUT_BYTES });
          }
          const outputs = openExecOutputs(outputsOf(project_id));
          const [stdout, stderr] = [ran.stdout, ran.stderr].map((one) =>
            outputs.bound(one, MAX_ANSWER_BYTES),
          );
          return {
            exit_code: ran.code,
            stdout: stdout?.text ?? "",
            stderr: stderr?.text ?? "",
            ...(stdout?.ref !== undefined && { stdout_ref: stdout.ref }),
            ...(stderr?.ref !== undefined && { stderr_ref: stderr.ref }),
            limits_hit: [...(await newHits()), ...fileTooLarge(ran.code, project)],
          };
        },
      }),
      stats: action({
        summary: "What the container uses now, and its limits.",
        ...READ,
        input: One,
        output: State.extend({
          cpu_percent: z.number().optional().describe("100 is one processor; absent when it does not run"),
          memory_bytes: z.int().optional(),
          pids: z.int().optional(),
          not_counted: z.string().optional().describe("Why a running container has none of the three"),
          disk_bytes: z.int().describe("Of the workspaces and the cache"),
          limits: z.object({
            cpus: z.number().optional(),
            memory_mb: z.int().optional(),
            pids: z.int().optional(),
            disk_mb: z.int().optional(),
          }),
        }),
        errors: ["NOT_FOUND", "UNSUPPORTED", "UPSTREAM_ERROR"],
        examples: failing("By project", {}),
        projectOf,
        async run({ project_id }) {
          const { limits } = await findProject(store, project_id);
          const { cpus, memory_mb, pids, disk_mb } = limits;
          const found = await containers.find(project_id);
          const use = found?.state === "running" ? await containers.engine.stats(found.id) : {};
          return {
            ...(await now(project_id)),
            ...use,
            disk_bytes: await containers.usedBy(project_id),
            limits: { cpus, memory_mb, pids, disk_mb },
          };
        },
      }),
    },
  });

  async function placeOf(project_id: string, workspace_id: string): Promise<string> {
    const workspace = await workspaces.find(workspace_id);
    if (workspace.project_id === project_id) return workspaces.pathInContainer(workspace);
    throw new ToolError("NOT_FOUND", `the project has no workspace '${workspace_id}'`, { id: workspace_id });
  }
};

const timeOf = (line: string): number => Date.parse(line.slice(0, line.indexOf(" "))) || 0;
