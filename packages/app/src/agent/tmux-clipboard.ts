import { findOutsideProjects, pathOutsideProjects, startLaunched } from "@octant/host";

/**
 * Puts text into a buffer of tmux, and into the clipboard of its terminal: by default tmux ignores the sequence with
 * which programs ask a terminal for that. Does nothing outside tmux.
 */
export async function copyInTmux(
  text: string,
  env: NodeJS.ProcessEnv,
  roots: readonly string[],
): Promise<void> {
  if (!env["TMUX"]) return;
  const path = pathOutsideProjects(env["PATH"] ?? "", roots);
  const program = findOutsideProjects("tmux", path, roots);
  if (program === undefined) return;
  const child = startLaunched(program, ["load-buffer", "-w", "-"], {
    env: { ...env, PATH: path },
    stdio: ["pipe", "ignore", "ignore"],
  });
  const ended = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });
  child.stdin?.once("error", () => {});
  child.stdin?.end(text);
  await ended;
}
