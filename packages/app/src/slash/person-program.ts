import { text } from "node:stream/consumers";
import { ToolError, toOneLine } from "@octant/core";
import {
  createGit,
  findOutsideProjects,
  openPersonGit,
  pathOutsideProjects,
  type Repository,
  startLaunched,
} from "@octant/host";
import { withoutKeys } from "../agent/choose-client.ts";
import type { SlashContext } from "./slash-command.ts";

interface RunOptions {
  /** How to get the program where it is missing. */
  readonly how?: string;
  readonly input?: string | Uint8Array;
}

const MAX_SHOWN_CHARS = 2_000;
/** Names are shown as they are. */
const SHOWN = { settings: [["core.quotePath", "false"]] } as const;

/** The repository of the first root, for git in the sandbox, where nothing of the repository runs. */
export const repositoryOf = ({ opened: { octant, env }, signal }: SlashContext): Repository =>
  createGit({ ...octant.workspace, env: withoutKeys(env), allow: octant.config.settings.vcs }).open(
    undefined,
    signal,
  );

/** The output of git in the sandbox. */
export const git = async (context: SlashContext, ...args: string[]): Promise<string> =>
  (await repositoryOf(context).run(args, SHOWN)).stdout.toString();

export type Person = Awaited<ReturnType<typeof openPerson>>;

/**
 * Runs programs as the person would in their shell, with their config, keys and hooks, so only for commands that they
 * typed themselves. Programs are never looked up in the project, and git takes no program from the repository but the
 * hooks that were there before the session. Every run is recorded in the session's log.
 */
export async function openPerson(context: SlashContext) {
  const { opened, signal } = context;
  const { roots } = opened.octant.workspace.confinement;
  const path = pathOutsideProjects(opened.env["PATH"] ?? "", roots);
  const find = (name: string, how = `install ${name}`): string => {
    const program = findOutsideProjects(name, path, roots);
    if (program !== undefined) return program;
    throw new ToolError("UNSUPPORTED", `${name} was not found on your PATH; ${how}`, { what: name, how });
  };
  const places = repositoryOf(context);
  const { env, hooks, ignored } = await openPersonGit({
    places,
    program: find("git"),
    env: {
      ...definedIn(withoutKeys(opened.env)),
      PATH: path,
      GIT_TERMINAL_PROMPT: "0",
      GIT_EDITOR: "true",
      GH_PROMPT_DISABLED: "1",
    },
    writable: roots,
    hooks: opened.hooksAtStart,
    signal,
  });
  return {
    /** The program's output; on failure, an error with its own message. */
    async run(argv: readonly [string, ...string[]], { how, input = "" }: RunOptions = {}): Promise<string> {
      const [name, ...args] = argv;
      const program = find(name, how);
      const child = startLaunched(program, args, {
        cwd: places.folder,
        env,
        stdio: ["pipe", "pipe", "pipe"],
        signal,
      });
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
      if (opened.agent.session.conversation.model)
        await opened.agent.session.append({ type: "mark", name: "person_ran", data: { argv, code } });
      if (code === 0) return stdout;
      const said = (stderr || stdout).trim().slice(0, MAX_SHOWN_CHARS);
      const command = argv.slice(0, 2).map(toOneLine).join(" ");
      throw new ToolError("VCS_ERROR", `${command} failed: ${said}`, { exit_code: code });
    },
    /** The hooks that ran outside the sandbox, and the settings of the repository that were not used. */
    notes: (names: readonly string[]): string =>
      [
        listed(
          "hooks of yours that ran outside the sandbox",
          hooks.run.filter((name) => names.includes(name)),
        ),
        listed(
          "hooks that did not run, because they are new, changed, or files that commands can change",
          hooks.left.filter((name) => names.includes(name)),
        ),
        listed("settings of this repository that were not used", ignored),
      ].join(""),
    [Symbol.dispose]: hooks.remove,
  };
}

const listed = (what: string, names: readonly string[]): string =>
  names.length === 0 ? "" : `\n${what}: ${names.map((name) => `\`${toOneLine(name)}\``).join(", ")}`;

const definedIn = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
