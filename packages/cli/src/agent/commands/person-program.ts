import { text } from "node:stream/consumers";
import { ToolError, toOneLine } from "@octant/core";
import { findOutsideProjects, pathOutsideProjects, startLaunched } from "@octant/host";
import type { SlashContext } from "./slash-command.ts";

export interface ProgramOutput {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const MAX_SHOWN_CHARS = 2_000;

/**
 * Runs a program as the person would in their shell, with their hooks and keys, so only for commands that
 * they typed themselves. The program is never looked up in the project. Every run is recorded in the
 * session's log.
 */
export async function runAsPerson(
  argv: readonly [string, ...string[]],
  { opened: { octant, agent }, io, signal }: SlashContext,
  { how, input = "" }: { readonly how?: string; readonly input?: string } = {},
): Promise<ProgramOutput> {
  const [name, ...args] = argv;
  const { roots } = octant.workspace.confinement;
  const path = pathOutsideProjects(io.env["PATH"] ?? "", roots);
  const program = findOutsideProjects(name, path, roots);
  if (program === undefined)
    throw new ToolError("UNSUPPORTED", `${name} was not found on your PATH; ${how ?? `install ${name}`}`, {
      what: name,
      how: how ?? `install ${name}`,
    });
  const env = {
    ...io.env,
    PATH: path,
    GIT_TERMINAL_PROMPT: "0",
    GIT_EDITOR: "true",
    GH_PROMPT_DISABLED: "1",
  };
  const child = startLaunched(program, args, { cwd: roots[0], env, stdio: ["pipe", "pipe", "pipe"], signal });
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  // A program that does not read its input may exit before the write.
  child.stdin?.once("error", () => {});
  child.stdin?.end(input);
  const [stdout, stderr, code] = await Promise.all([
    child.stdout ? text(child.stdout) : "",
    child.stderr ? text(child.stderr) : "",
    exited,
  ]);
  if (agent.session.conversation.model)
    await agent.session.append({ type: "mark", name: "person_ran", data: { argv, code } });
  return { code, stdout, stderr };
}

/** The program's output; on failure, an error with its own message. */
export async function outputOf(
  argv: readonly [string, ...string[]],
  context: SlashContext,
  options?: { readonly how?: string; readonly input?: string },
): Promise<string> {
  const { code, stdout, stderr } = await runAsPerson(argv, context, options);
  if (code === 0) return stdout;
  const said = (stderr || stdout).trim().slice(0, MAX_SHOWN_CHARS);
  throw new ToolError("VCS_ERROR", `${argv.slice(0, 2).map(toOneLine).join(" ")} failed: ${said}`, {
    exit_code: code,
  });
}

export const git = (context: SlashContext, ...args: string[]): Promise<string> =>
  outputOf(["git", "--no-pager", ...args], context);
