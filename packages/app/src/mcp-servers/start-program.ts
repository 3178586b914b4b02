import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { ToolError } from "@octant/core";
import {
  findOutsideProjects,
  passedEnvironment,
  pathOutsideProjects,
  startServer,
  type Workspace,
} from "@octant/host";
import type { ProgramDefinition, StartedProgram } from "@octant/mcp-client";

/**
 * Starts the program of an MCP server in the workspace's sandbox, with only the allowed variables of our
 * environment.
 */
export async function startProgram(
  workspace: Workspace,
  env: NodeJS.ProcessEnv,
  definition: ProgramDefinition,
): Promise<StartedProgram> {
  const { confinement, sandbox, state } = workspace;
  const [root = "/"] = confinement.roots;
  const program = findCommand(definition.command, confinement.roots, env);
  if (program === undefined)
    throw new ToolError("EXEC_FAILED", `'${definition.command}' is not on the PATH`, {
      program: definition.command,
    });
  const argv = [program, ...(definition.args ?? [])] as const;
  const started = await startServer({
    argv,
    root,
    env: { ...passedEnvironment(env), ...definition.env },
    sandbox,
    state,
  });
  return {
    input: started.input,
    output: started.output,
    exited: started.exited,
    stderrTail: () => withHidden(started.stderrTail(), argv),
    end: () => started.ending()(),
  };
}

/** Never looks up a name inside the project, which could contain a program of that name. */
export function findCommand(
  command: string,
  roots: readonly string[],
  env: NodeJS.ProcessEnv,
): string | undefined {
  if (/[/\\]/.test(command)) return command;
  return findOutsideProjects(command, pathOutsideProjects(env["PATH"] ?? "", roots), roots);
}

/** A program that misses a file which is there runs where the sandbox hides it, such as below the temp folder. */
function withHidden(stderrTail: string, argv: readonly string[]): string {
  const hidden = argv.find((word) => isAbsolute(word) && stderrTail.includes(word) && existsSync(word));
  if (hidden === undefined || !/no such file|not found|cannot find|ENOENT/i.test(stderrTail))
    return stderrTail;
  return `the sandbox hides a file, so the program cannot find it: ${hidden}; move it to a visible folder (/tmp and other homes are not), or name its folder in sandbox.allowed_paths of your settings\n${stderrTail}`;
}
