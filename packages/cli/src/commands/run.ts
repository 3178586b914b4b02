import { text as readAll } from "node:stream/consumers";
import type { OutputSchema } from "@octant/agent";
import {
  followMembers,
  isSlashLine,
  type OpenAgentOptions,
  type OpenedAgent,
  openAgent,
  RUN_EXIT,
  readRunInput,
  runPrompt,
  type SlashOutcome,
  waitForAnswers,
} from "@octant/app";
import { ToolError } from "@octant/core";
import { createTerminalAsk, type PermissionRule, ToolPattern } from "@octant/runtime";
import { type AgentFlags, agentFlags, openHost, toAgentOptions } from "../agent/agent-flags.ts";
import { createReport, loadOutputSchema } from "../agent/run-output.ts";
import {
  defineCommand,
  ENDING_SIGNALS,
  type FlagValues,
  type Io,
  onSignals,
  UsageError,
} from "../command.ts";
import { explainWorkspace, tellOpening } from "../open-octant.ts";
import { note } from "../output.ts";
import { asTyped, tell } from "../person-command.ts";
import { tellWhenSlow } from "../tell-when-slow.ts";
import { logLine } from "../workspace-flags.ts";

const flags = {
  ...agentFlags,
  json: { summary: "Print the result as one JSON object" },
  "stream-json": { summary: "Print each event as one line of JSON; the last line is the result" },
  "input-json": {
    summary: "Take messages, answers and interrupts as lines of JSON on stdin; implies --stream-json",
  },
  allow: {
    summary: "Actions that need no approval in this run, such as fs.* or proc.exec",
    value: "PATTERN",
    many: true,
  },
  "wait-for-answers": {
    summary: "How long questions wait for octant answer in another terminal when nobody is here",
    value: "SECONDS",
  },
  "max-turns": { summary: "Stop after this many model responses", value: "N" },
  "max-cost": { summary: "Stop after spending this many US dollars", value: "USD" },
  "max-tokens": { summary: "Stop after this many tokens", value: "N" },
  "max-time": { summary: "Stop after this many seconds", value: "SECONDS" },
  "output-schema": { summary: "A JSON Schema that the answer must match", value: "FILE" },
} as const;

export const run = defineCommand({
  name: "run",
  summary: "Run the agent on a task and print its answer",
  arguments: [{ name: "PROMPT", optional: true }],
  flags,
  notes: `The prompt may come from stdin, also in addition to an argument. @path in it adds a file,
@server:uri a resource of an MCP server; a prompt such as /commit is a command, /help lists them.
Reading is allowed; what changes something is asked at the terminal, or needs --allow or a rule in the
settings. The answer goes to stdout, progress to stderr. For example:
  octant run "fix the failing test" --allow fs.apply_patch --allow test.run
  git diff | octant run "review this" --json
  octant run --continue "and now the docs"`,
  exitCodes: `Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a limit was reached or no Node 24, 4 refused or cut by the
model, 5 done but some calls could not be approved, 6 the answer does not fit the schema, 130 interrupted.`,
  refuse(words, cause, io) {
    const has = (flag: string) => words.includes(`--${flag}`);
    const [json, stream, input] = [has("json"), has("stream-json"), has("input-json")];
    createReport({ json, "stream-json": stream, "input-json": input }, io).fail(cause);
  },
  async run({ args: [argument], flags }, io) {
    const report = createReport(flags, io);
    try {
      return await runTask(argument, flags, report, io);
    } catch (cause) {
      report.fail(cause);
      throw cause;
    }
  },
});

type RunFlags = FlagValues<typeof flags>;
type Report = ReturnType<typeof createReport>;

async function runTask(
  argument: string | undefined,
  flags: RunFlags,
  report: Report,
  io: Io,
): Promise<number> {
  const schema = flags["output-schema"] === undefined ? undefined : loadOutputSchema(flags["output-schema"]);
  const chosen = toAgentOptions(flags, io);
  using input = flags["input-json"] ? readRunInput(io, report.record) : undefined;
  const prompt = input ? (argument ?? "") : await readPrompt(argument, io, chosen.from !== undefined);
  const isAttended = !input && io.stdin.isTTY && io.stderr.isTTY;
  const waitMs = toLimit(flags["wait-for-answers"], 1_000);
  const waiting = waitMs === undefined ? undefined : waitForAnswers(waitMs, (line) => void logLine(line, io));
  const opening = orSayHow(flags, report, io, {
    ...chosen,
    host: await openHost(flags, io),
    allow: flags.allow.map(toRule),
    ask: isAttended ? createTerminalAsk({ input: io.stdin, output: io.stderr }) : (input?.ask ?? waiting),
    limits: {
      max_turns: toLimit(flags["max-turns"]),
      max_cost: toLimit(flags["max-cost"]),
      max_tokens: toLimit(flags["max-tokens"]),
      max_time_ms: toLimit(flags["max-time"], 1_000),
    },
  });
  await using opened = await tellWhenSlow(opening, () => tellOpening(flags, io));
  if (!opened) return RUN_EXIT.FAILED;
  const { agent, untrusted } = opened;
  agent.subscribe(report.event);
  const members = followMembers(opened, ({ role }, event) => report.member(role, event));
  if (untrusted.length > 0)
    logLine(`${untrusted.join(", ")}: no effect until you trust it; octant trust shows it`, io);
  const stop = new AbortController();
  // The run then ends normally, with everything stored.
  using _signals = onSignals(ENDING_SIGNALS, () => {
    stop.abort();
    void agent.cancel();
  });
  const once = (asked: string) => {
    if (isSlashLine(asked)) members.expect();
    return answer(asked, { opened, schema, report, signal: stop.signal, io });
  };
  if (!input) return await once(prompt);
  input.attach(agent);
  let code: number = RUN_EXIT.OK;
  if (prompt !== "") code = await once(prompt);
  for await (const message of input.messages()) {
    if (stop.signal.aborted) break;
    code = await once(message);
  }
  return code;
}

interface Task {
  readonly opened: OpenedAgent;
  readonly schema: OutputSchema | undefined;
  readonly report: Report;
  readonly signal: AbortSignal;
  readonly io: Io;
}

/** Answers one prompt, which may be a slash command; returns the exit code. */
async function answer(prompt: string, task: Task): Promise<number> {
  const { opened, schema, report, signal, io } = task;
  const outcome = await runPrompt(opened, prompt, {
    cwd: io.cwd(),
    schema,
    signal,
    onBegin: report.begin,
    log: (line) => logLine(line, io),
  });
  const exitCode = report.end(outcome);
  return outcome.command?.failed ? exitCode : ((await tellNext(outcome.command, task)) ?? exitCode);
}

/** A terminal would continue with another session; here the message says how. */
async function tellNext(
  outcome: SlashOutcome | undefined,
  { opened, io }: Task,
): Promise<number | undefined> {
  const { next } = outcome ?? {};
  if (next === "new") return tell("every octant run without --continue starts a new conversation", io);
  if (next === undefined || next.how === "latest") return undefined;
  let { id } = next;
  if (next.how === "fork") {
    const copy = await opened.sessions.fork(next.id, next.seq);
    await copy.close();
    ({ id } = copy);
  }
  return tell(`octant run --resume ${id} "…" continues it`, io);
}

/** undefined without credentials: the instructions take more than one line. */
async function orSayHow(
  flags: AgentFlags,
  report: Report,
  io: Io,
  options: OpenAgentOptions,
): Promise<OpenedAgent | undefined> {
  try {
    return await openAgent({ ...options, command: "run" });
  } catch (cause) {
    if (!(cause instanceof ToolError && cause.code === "UNAUTHENTICATED"))
      return explainWorkspace(cause, flags, io);
    report.fail(cause);
    note(`octant: ${asTyped(cause.message, io)}`, io);
    return undefined;
  }
}

async function readPrompt(argument: string | undefined, io: Io, isResumed: boolean): Promise<string> {
  const piped = io.stdin.isTTY ? "" : (await readAll(io.stdin)).trim();
  const prompt = [argument ?? "", piped].filter((part) => part !== "").join("\n\n");
  if (prompt === "" && !isResumed)
    throw new UsageError(
      "octant run needs a prompt",
      'octant run "fix the failing test", or a prompt on stdin',
    );
  return prompt;
}

function toRule(pattern: string): PermissionRule {
  const { success } = ToolPattern.safeParse(pattern);
  if (!success)
    throw new UsageError(`--allow ${pattern} is not a pattern of actions`, "such as fs.*, proc.exec or '*'");
  return { tool_pattern: pattern, mode: "allow" };
}

function toLimit(text: string | undefined, factor = 1): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value * factor;
  throw new UsageError(`invalid limit '${text}': expected more than 0`, "octant run --help shows the limits");
}
