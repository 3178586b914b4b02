import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  type ActionsOf,
  createCursors,
  createDispatcher,
  createRegistry,
  type ErrorBody,
  type Paging,
} from "@octant/core";
import { createGit, createWorkspace, type GitAllowance } from "@octant/host";
import type { z } from "zod";
import { fs } from "../../src/fs/index.ts";
import { vcs } from "../../src/vcs/index.ts";

export interface OpenOptions {
  /** For tests that wait for thousands of syncs: in memory they cost nothing. */
  readonly inMemory?: boolean;
  /** The workspace's root below the temporary folder; the repository is at "ws". */
  readonly root?: string;
  readonly allow?: GitAllowance;
  /** Whether git runs in the workspace's sandbox; without it, only our own options prevent programs from running. */
  readonly sandboxed?: boolean;
  readonly env?: NodeJS.ProcessEnv;
  /** Whether to leave the folder without a repository. */
  readonly bare?: boolean;
  /** Whether to commit a.txt, of three lines, and src/b.txt. */
  readonly commit?: boolean;
}

const CONFIG = "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n";

const templates = new Map<boolean, string>();

/** A repository that git made once for all tests of a file, without a commit or with one. */
function templateOf(commit: boolean): string {
  const known = templates.get(commit);
  if (known !== undefined) return known;
  const base = mkdtempSync(join(tmpdir(), "octant-vcs-template-"));
  process.once("exit", () => rmSync(base, { recursive: true, force: true }));
  const top = join(base, "ws");
  writeFileSync(join(base, ".gitconfig"), CONFIG);
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: top, env: { PATH: process.env["PATH"], HOME: base } });
  mkdirSync(top);
  git("init", "--quiet");
  if (commit) {
    mkdirSync(join(top, "src"));
    writeFileSync(join(top, "a.txt"), "one\ntwo\nthree\n");
    writeFileSync(join(top, "src/b.txt"), "b\n");
    git("add", ".");
    git("commit", "-qm", "first");
  }
  templates.set(commit, top);
  return top;
}

type Actions = ActionsOf<ReturnType<typeof vcs>>;

/** A temporary repository with a workspace on it; `git` runs git itself, as a person would. */
export function openRepository({
  inMemory = false,
  root = "ws",
  allow,
  sandboxed = false,
  env: more,
  bare = false,
  commit = false,
}: OpenOptions = {}) {
  const folder = inMemory && existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const base = realpathSync(mkdtempSync(join(folder, "octant-vcs-")));
  const top = join(base, "ws");
  const home = join(base, "home");
  const env: NodeJS.ProcessEnv = {
    PATH: process.env["PATH"],
    HOME: home,
    XDG_STATE_HOME: join(base, "state"),
    ...more,
  };
  for (const folder of [top, join(base, root)]) mkdirSync(folder, { recursive: true });
  mkdirSync(home);
  writeFileSync(join(home, ".gitconfig"), CONFIG);
  const git = (...args: string[]) =>
    execFileSync("git", args, {
      cwd: top,
      env: { ...env, LC_ALL: "C" },
      encoding: "utf8",
      stdio: "pipe",
    }).trimEnd();
  const write = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(join(top, path)), { recursive: true });
    writeFileSync(join(top, path), content);
  };
  if (!bare) cpSync(templateOf(commit), top, { recursive: true });

  const workspace = createWorkspace({ roots: [join(base, root)], env, warn: () => {} });
  const tool = vcs({
    ...workspace,
    git: createGit(
      sandboxed ? { ...workspace, env, allow } : { confinement: workspace.confinement, env, allow },
    ),
  });
  const dispatch = createDispatcher({
    registry: createRegistry([tool, fs(workspace)]),
    cursors: createCursors(new Uint8Array(32)),
    onBug: ({ cause }) => {
      throw cause;
    },
  });
  const call = async (name: string, input: unknown, signal?: AbortSignal) => {
    const [toolName, action] = name.includes(".") ? name.split(".") : ["vcs", name];
    const caller = { id: "test", access: "admin" } as const;
    return (await dispatch({ tool: toolName!, action: action!, input }, { caller, signal })).envelope;
  };

  return {
    base,
    top,
    env,
    git,
    write,
    call,
    /** The data of a call that must succeed. */
    async ok<K extends keyof Actions & string>(
      action: K,
      input: z.input<Actions[K]["input"]>,
    ): Promise<z.output<Actions[K]["output"]> & { paging: Paging }> {
      const envelope = await call(action, input);
      if (!envelope.ok) throw new Error(`vcs.${action}: ${envelope.error.code} ${envelope.error.message}`);
      return { ...(envelope.data as z.output<Actions[K]["output"]>), paging: envelope.meta.paging };
    },
    /** The error of a call that must fail. */
    async fail(action: string, input: unknown, signal?: AbortSignal): Promise<ErrorBody> {
      const envelope = await call(action, input, signal);
      if (envelope.ok) throw new Error(`vcs.${action} succeeded: ${JSON.stringify(envelope.data)}`);
      return envelope.error;
    },
    async close() {
      await workspace.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

export type OpenRepository = ReturnType<typeof openRepository>;
