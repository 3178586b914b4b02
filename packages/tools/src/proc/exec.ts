import { existsSync } from "node:fs";
import { action, type Context, ofKind, Ref, Uri } from "@octant/core";
import {
  type OpenCommand,
  type Processes,
  type ProcessInfo,
  type ProcessSpec,
  type ProgramLimits,
  pathToUri,
  shellQuote,
} from "@octant/host";
import { z } from "zod";
import { Outcome, Output, outputInput, type ProcWorkspace, runText, toOutcome, toOutput } from "./answer.ts";
import { reportOutput } from "./report-output.ts";
import { stopCancelled } from "./stop-cancelled.ts";
import { checkPortIsFree, WaitFor, waitUntilReady } from "./wait-for.ts";

const DEFAULT_WAIT_MS = 45_000;
/** Below the two minutes after which the call itself would be answered, without the command's output. */
const MAX_WAIT_MS = 110_000;
const MAX_TEXT_CHARS = 10 * 1024 * 1024;
const MAX_ARGUMENTS = 10_000;
const MAX_TERMINAL_SIDE = 1_000;
const MAX_REASON_CHARS = 500;

const withoutNul = (text: string) => !text.includes("\0");
const Argument = z.string().refine(withoutNul, "an argument cannot hold a NUL character");

const EnvName = z
  .string()
  .min(1)
  .refine((name) => !/[=\0]/.test(name), "the name of a variable has no = and no NUL");

export const TerminalSize = z.strictObject({
  cols: z.int().min(1).max(MAX_TERMINAL_SIDE).default(80),
  rows: z.int().min(1).max(MAX_TERMINAL_SIDE).default(24),
});

const ExecInput = z.strictObject({
  command: ofKind(
    "command",
    z
      .union([Argument.min(1), z.tuple([Argument.min(1)], Argument).check(z.maxLength(MAX_ARGUMENTS))])
      .describe("A string runs in the shell; a list [program, …arguments] does not"),
  ),
  cwd: Uri.optional().describe("Working folder; default the first root"),
  env: ofKind("environment", z.record(EnvName, Argument).default({}).describe("Added to the environment")),
  timeout: z.int().min(1).optional().describe("Milliseconds until it is killed; default no limit"),
  shell: ofKind(
    "command",
    Argument.min(1).optional().describe("For a string command; default bash, else sh"),
  ),
  stdin: ofKind("input", z.string().max(MAX_TEXT_CHARS).optional().describe("Complete standard input")),
  pty: TerminalSize.optional().describe("Run in a terminal; all output is in stdout"),
  background: z.boolean().default(false).describe("Return once it has started"),
  wait_for: WaitFor.optional(),
  wait: z.int().min(0).max(MAX_WAIT_MS).default(DEFAULT_WAIT_MS).describe("Maximum milliseconds"),
  needs: z
    .enum(["network", "outside"])
    .optional()
    .describe("Ask for the network, or to run outside the sandbox"),
  reason: z.string().max(MAX_REASON_CHARS).optional().describe("Why `needs`; shown to the person"),
  ...outputInput,
});

/** The text that a person typed after the name of a command in a file; no program obeys a variable of this name. */
const isForText = (variable: string): boolean => variable === "ARGUMENTS";

export const exec = (workspace: ProcWorkspace) =>
  action({
    summary: "Run a command; if it is still running after `wait`, it continues in the background.",
    access: "write",
    timing: "async_medium",
    intent: "verify",
    destructive: true,
    openWorld: true,
    ownCheckpoints: true,
    runsCommands: true,
    unaskedIn: "sandbox",
    plainCommand: ({ command, cwd, env, shell, stdin, pty }) =>
      shell === undefined && stdin === undefined && pty === undefined && Object.keys(env).every(isForText)
        ? { command, folder: cwd }
        : undefined,
    needs: ({ needs, reason = "no reason given" }) => needs && { right: needs, reason },
    input: ExecInput,
    output: z.object({
      ...Outcome,
      ...Output,
      undo: Ref.optional().describe("Pass as `patch` to fs.apply_patch to undo its file changes"),
      ready: z.boolean().optional().describe("Whether the wait_for condition was met"),
      note: z.string().optional().describe("A note, or what to do next"),
    }),
    errors: [
      "EXEC_FAILED",
      "NOT_FOUND",
      "NOT_A_DIRECTORY",
      "OUTSIDE_WORKSPACE",
      "LIMIT_EXCEEDED",
      "OVERLOADED",
      "TOO_LARGE",
      "NO_SPACE",
      "IO_ERROR",
      "INTERRUPTED",
      "UNSUPPORTED",
    ],
    examples: [
      { title: "Through the shell", input: { command: "ls src | wc -l" } },
      { title: "Without a shell, in a folder", input: { command: ["cat", "main.ts"], cwd: "src" } },
      {
        title: "Start a server and wait until it is ready",
        input: { command: "echo listening; sleep 1", wait_for: { pattern: "listening|ready in" } },
      },
    ],
    text: runText,
    async run(input, ctx) {
      const { processes } = workspace;
      const { background, wait_for, wait } = input;
      if (wait_for?.port !== undefined) await checkPortIsFree(wait_for.port);
      ctx.signal.throwIfAborted();
      const turn = await workspace.checkpoints?.begin(labelOf(input.command), {
        session_id: ctx.caller.id,
        signal: ctx.signal,
      });
      const { proc_id, owner } = await start(workspace, input, ctx).catch(async (cause) => {
        await turn?.end();
        throw cause;
      });
      // Known by now, because the command has started at this level.
      const status = await workspace.sandbox?.status();
      const limits = workspace.sandbox?.limits() ?? {};
      if (status) ctx.backend(`sandbox ${limits.outside ? "off" : status.level}`);
      const unconfined = (await workspace.sandbox?.unconfined())?.note ?? status?.limits;
      const watched = { processes, owner, proc_id, ms: wait, signal: ctx.signal };
      const stopReporting = reportOutput(processes, owner, proc_id, ctx);
      try {
        const ready = wait_for && (await waitUntilReady(watched, wait_for));
        const now =
          wait_for || background
            ? processes.get(owner, proc_id)
            : await processes.exited(owner, proc_id, wait, ctx.signal);
        const answer = toAnswer(processes, now, input, { ready, unconfined, limits });
        if (answer.status !== "running") return await withUndo(answer, turn);
        // Later changes by a server cannot be distinguished from the work of others.
        const interim = background || wait_for ? await withUndo(answer, turn) : answer;
        // The caller has its answer; the rest is a job that lives as long as the process.
        ctx.detach(interim);
        const info = await processes.exited(owner, proc_id, Number.POSITIVE_INFINITY, ctx.signal);
        return await withUndo(toAnswer(processes, info, input, { ready, unconfined, limits }), turn);
      } catch (cause) {
        await stopCancelled(processes, owner, proc_id);
        await turn?.end();
        throw cause;
      } finally {
        await stopReporting();
      }
    },
  });

const MAX_NAMED = 3;

/** Adds the undo ref for the command's changes, where checkpoints are on. */
async function withUndo<T extends { readonly note?: string }>(answer: T, turn: OpenCommand | undefined) {
  if (!turn) return answer;
  const { undo, note, covers, uncovered = [], doubtful } = await turn.end();
  const named = (entries: readonly string[]) => {
    const more = entries.length - MAX_NAMED;
    return [...entries.slice(0, MAX_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(", ");
  };
  const notes = [
    answer.note,
    note && `its changes cannot be undone: ${note}`,
    covers && `undo also reverts work that ran at the same time: ${covers.join(", ")}`,
    doubtful &&
      `these changed while it ran, by it or by the person, so there is no undo without asking the person: ${named(doubtful.paths.map(pathToUri))}; ${doubtful.undo} as \`patch\` of fs.apply_patch reverts all of it`,
    uncovered.length > 0 &&
      `undo leaves entries that checkpoints do not cover: ${named(uncovered.map(({ path, why }) => `${pathToUri(path)} (${why})`))}`,
  ].filter(Boolean);
  return { ...answer, ...(undo && { undo }), ...(notes.length > 0 && { note: notes.join("; ") }) };
}

function toAnswer(
  processes: Processes,
  info: ProcessInfo,
  input: ExecInput,
  { ready, unconfined, limits }: Confinement,
) {
  const { quarantined, stranded } = info;
  const output = toOutput(processes, info, input);
  const notes = [
    unconfined,
    limitNote(limits, output, info, input),
    noteOn(info, input),
    quarantined.length > 0 ? quarantineNote(quarantined) : undefined,
    stranded.length > 0 ? strandedNote(stranded) : undefined,
  ];
  const note = notes.filter(Boolean).join("; ") || undefined;
  return {
    ...toOutcome(info),
    ...output,
    ...(ready !== undefined && { ready }),
    ...(note !== undefined && { note }),
  };
}

type ExecInput = z.output<typeof ExecInput>;

interface Confinement {
  readonly ready: boolean | undefined;
  readonly unconfined: string | undefined;
  readonly limits: ProgramLimits;
}

/** The words of programs that cannot reach a host; a failure without them has another cause. */
const NETWORK_FAILURE =
  /network|resolv|getaddrinfo|ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|EHOSTUNREACH|unreachable|timed? ?out|connect|proxy|offline|download|fetch|registry|could not reach|DNS/i;

/** Words of a line that reaches a host, and may hide its failure behind a pipe. */
const REACHES_OUT = /\b(?:curl|wget|https?:|git\s+(?:clone|fetch|pull|push|ls-remote))/;

/** A failure may come from what the mode of the session withheld. */
function limitNote(
  { network, readOnly, outside }: ProgramLimits,
  { stdout, stderr }: ReturnType<typeof toOutput>,
  { status, exit_code }: ProcessInfo,
  { command, background, wait_for }: ExecInput,
): string | undefined {
  const isRunning = status === "running";
  if (outside || (exit_code === null && !isRunning)) return undefined;
  if (readOnly)
    return exit_code
      ? "it ran without asking, so it could only read the project, without network"
      : undefined;
  if (!network) return undefined;
  const said = `${stdout}${stderr}`;
  if (exit_code && /read-only file system|\bEROFS\b/i.test(said))
    return "the sandbox lets it write only the workspace, temp files and caches; if it must write elsewhere, call again with needs: outside and a reason";
  const isSilent = said === "";
  if (isRunning)
    return (isSilent || NETWORK_FAILURE.test(said)) && !background && !wait_for
      ? "it runs without network; if it waits for that, kill it and call again with needs: network and a reason"
      : undefined;
  // Programs such as `curl -s` fail in silence; 1 is how `grep` and `test` say no. A pipe hides the exit code.
  const mayBeNetwork = exit_code
    ? NETWORK_FAILURE.test(said) || (isSilent && exit_code > 1)
    : stdout === "" && (NETWORK_FAILURE.test(stderr) || (isSilent && REACHES_OUT.test(String(command))));
  return mayBeNetwork
    ? "it ran without network; if that is why it failed, call again with needs: network and a reason"
    : undefined;
}

function start(
  { confinement, processes }: ProcWorkspace,
  input: ExecInput,
  ctx: Context,
): Promise<ProcessInfo> {
  const { command, env, timeout, pty } = input;
  const folder = confinement.openFolder(
    input.cwd === undefined ? confinement.start : confinement.toPath(input.cwd),
  );
  return processes
    .start({
      argv: typeof command === "string" ? [input.shell ?? defaultShell(), "-c", command] : command,
      cwd: folder,
      env,
      stdin: inputOf(input),
      pty,
      timeoutMs: timeout,
      owner: ctx.caller.id,
      signal: ctx.signal,
      label: labelOf(command),
    })
    .finally(() => folder[Symbol.dispose]());
}

/**
 * Standard input stays open for interactive use; otherwise it is at its end, so that the command does not wait for
 * more.
 */
function inputOf({ stdin, background, wait_for }: ExecInput): ProcessSpec["stdin"] {
  if (stdin !== undefined) return Buffer.from(stdin);
  return background || wait_for ? "open" : "closed";
}

const defaultShell = () => ["/bin/bash", "/usr/bin/bash"].find((path) => existsSync(path)) ?? "/bin/sh";

const labelOf = (command: ExecInput["command"]) =>
  typeof command === "string" ? command : command.map(quoted).join(" ");

const quoted = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : shellQuote(word));

function noteOn(info: ProcessInfo, { timeout, wait_for }: ExecInput): string | undefined {
  const { proc_id, status, limit, output_open, output_failure } = info;
  if (limit !== null)
    return `it, or something that it started, was killed for using more ${limit} than a command may`;
  if (output_failure !== null) return `not all output could be stored (${output_failure})`;
  if (status === "timed_out") return `ended because it ran for more than ${timeout} ms`;
  if (status === "running" && !wait_for)
    return `it still runs; proc.logs with ${proc_id} and follow: true shows new output, proc.kill ends it`;
  if (status === "running") return `it runs in the background; proc.kill with ${proc_id} ends it`;
  if (output_open)
    return `a process that it started still runs and may print more; proc.kill with ${proc_id} ends it`;
  return undefined;
}

/** The person looks for such a file in their own home or temp folder, where it is not. */
function strandedNote(entries: ProcessInfo["stranded"]): string {
  const named = entries.slice(0, MAX_NAMED).map(({ path, source }) => `${path} is really ${source}`);
  const more = entries.length > MAX_NAMED ? [`${entries.length - MAX_NAMED} more`] : [];
  return `only commands in the sandbox see what it wrote outside the workspace: ${[...named, ...more].join(", ")}`;
}

const quarantineNote = (paths: readonly string[]): string =>
  `${[...new Set(paths)].join(", ")} is protected: a command created it, and it was moved out of the project to Octant's state folder; ask the person to create it by hand`;
