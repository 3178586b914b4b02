import type { OpenAgentOptions } from "@octant/app";
import type { Containers } from "../containers/containers.ts";
import type { Project } from "../projects/project.ts";

export interface ProjectServersOptions {
  readonly containers: Pick<Containers, "execTools">;
  readonly project: Project;
  /** The workspace of the session, where the servers run. */
  readonly cwd: string;
  readonly workspace_id: string;
}

const MAX_TAIL_CHARS = 2_000;

/** The project's MCP servers for a session. They run in the container; those of the hub's owner are not for sessions. */
export const serversOf = ({
  containers,
  project,
  cwd,
  workspace_id,
}: ProjectServersOptions): Required<Pick<OpenAgentOptions, "servers" | "startServer">> => ({
  servers: project.mcp_servers ?? {},
  async startServer(_name, { command, args = [], env }) {
    const { stdin, stdout, stderr, exited, kill } = await containers.execTools(project, {
      ...{ argv: [command, ...args], cwd, env, workspace_id },
    });
    let tail = "";
    stderr.setEncoding("utf8").on("data", (text: string) => {
      tail = (tail + text).slice(-MAX_TAIL_CHARS);
    });
    return {
      input: stdin,
      output: stdout,
      exited: exited.then(
        (code) => (code === null ? "it was killed" : `exit code ${code}`),
        (cause: Error) => cause.message,
      ),
      stderrTail: () => tail,
      end: kill,
    };
  },
});
