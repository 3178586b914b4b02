import { text as readAll } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import type { OutputSchema, RunEnded } from "@octant/agent";
import {
  isSlashLine,
  type OpenAgentOptions,
  type OpenedAgent,
  openAgent,
  runSlashLine,
  type SlashOutcome,
  withMentions,
} from "@octant/app";
import { counted, ToolError } from "@octant/core";
import { createTerminalPrompter, type PermissionRule, ToolPattern, unattended } from "@octant/runtime";
import { type AgentFlags, agentFlags, toAgentOptions } from "../agent/agent-flags.ts";
import {
  createProgressLines,
  createRunResult,
  EXIT_OF,
  loadOutputSchema,
  RUN_EXIT,
  type RunResult,
  recordUnapproved,
} from "../agent/run-output.ts";
import {
  defineCommand,
  ENDING_SIGNALS,
  type Io,
  onSignals,
  print,
  printJson,
  UsageError,
} from "../command.ts";
import { explainWorkspace } from "../open-octant.ts";
import { note, printJsonText } from "../output.ts";
import { asTyped, tell } from "../person-command.ts";
import { logLine } from "../workspace-flags.ts";

/** Slower MCP servers join while the run is in progress. */
const MAX_SERVERS_MS = 5_000;
/** How often the model may correct an answer that does not match the schema. */
const MAX_REPAIRS = 2;

export const run = defineCommand({
  name: "run",
  summary: "Run the agent on a task and print its answer",
  arguments: [{ name: "PROMPT", optional: true }],
  flags: {
    ...agentFlags,
    json: { summary: "Print the result as one JSON object" },
    "stream-json": { summary: "Print each event as one line of JSON" },
    allow: {
      summary: "Actions that need no approval in this run, such as fs.* or proc.exec",
      value: "PATTERN",
      many: true,
    },
    "max-turns": { summary: "Stop after this many model responses", value: "N" },
    "max-cost": { summary: "Stop after spending this many US dollars", value: "USD" },
    "max-tokens": { summary: "Stop after this many tokens", value: "N" },
    "max-time": { summary: "Stop after this many seconds", value: "SECONDS" },
    "output-schema": { summary: "A JSON Schema that the answer must match", value: "FILE" },
  },
  notes: `The prompt may come from stdin, also in addition to an argument. @path in it adds a file,
@server:uri a resource of an MCP server; a prompt such as /commit is a command, /help lists them.
Reading is allowed; what changes something is asked at the terminal, or needs --allow or a rule in the
settings. The answer goes to stdout, progress to stderr. For example:
  octant run "fix the failing test" --allow fs.apply_patch --allow test.run
  git diff | octant run "review this" --json
  octant run --continue "and now the docs"`,
  exitCodes: `Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a limit was reached or no Node 24, 4 refused or cut by the
model, 5 done but some calls could not be approved, 6 the answer does not fit the schema, 130 interrupted.`,
  async run({ args: [argument], flags }, io) {
    const schema =
      flags["output-schema"] === undefined ? undefined : loadOutputSchema(flags["output-schema"]);
    const chosen = toAgentOptions(flags, io);
    const prompt = await readPrompt(argument, io, chosen.from !== undefined);
    const isAttended = io.stdin.isTTY && io.stderr.isTTY;
    const { prompter, unapproved } = recordUnapproved(
      isAttended ? createTerminalPrompter({ input: io.stdin, output: io.stderr }) : unattended,
    );
    await using opened = await orSayHow(flags, io, {
      ...chosen,
      allow: flags.allow.map(toRule),
      prompter,
      limits: {
        max_turns: toLimit(flags["max-turns"]),
        max_cost: toLimit(flags["max-cost"]),
        max_tokens: toLimit(flags["max-tokens"]),
        max_time_ms: toLimit(flags["max-time"], 1_000),
      },
    });
    if (!opened) return RUN_EXIT.FAILED;
    const { agent, untrusted } = opened;
    const result = createRunResult(agent.session, unapproved);
    agent.subscribe(result.listen);
    if (flags["stream-json"]) agent.subscribe((event) => void printJsonText(JSON.stringify(event), io));
    else agent.subscribe(createProgressLines(io));
    if (untrusted.length > 0)
      logLine(`${untrusted.join(", ")}: no effect until you trust it; octant trust shows it`, io);
    const stop = new AbortController();
    // The run then ends normally, with everything stored.
    using _signals = onSignals(ENDING_SIGNALS, () => {
      stop.abort();
      void agent.cancel();
    });
    let asked = prompt;
    if (isSlashLine(prompt)) {
      const outcome = await runSlashLine(prompt, { opened, cwd: io.cwd(), signal: stop.signal }).catch(
        (cause) => {
          if (!(cause instanceof ToolError && cause.code === "LIMIT_EXCEEDED")) throw cause;
          logLine(cause.message, io);
          return RUN_EXIT.LIMIT;
        },
      );
      if (typeof outcome === "number") return outcome;
      if (outcome?.send === undefined) return showOutcome(outcome, opened, io);
      asked = outcome.send;
    }
    // A run has a single prompt, which may need the tools of these servers; the terminal does not wait for
    // them.
    await Promise.race([opened.servers.settled(), delay(MAX_SERVERS_MS, undefined, { ref: false })]);
    const end = await work(opened, asked, schema, result.text);
    return show(result.finish(end), schema, { ...flags, ways: new Set(unapproved.values()) }, io);
  },
});

/** A terminal would continue with another session; here the message says how. */
async function showOutcome(
  outcome: SlashOutcome | undefined,
  { sessions }: OpenedAgent,
  io: Io,
): Promise<number> {
  if (outcome?.text !== undefined) print(outcome.text, io);
  const { next } = outcome ?? {};
  if (next === "new") tell("every octant run without --continue starts a new conversation", io);
  if (outcome?.failed) return RUN_EXIT.FAILED;
  if (next === undefined || next === "new" || next.how === "latest") return RUN_EXIT.OK;
  let { id } = next;
  if (next.how === "fork") {
    const copy = await sessions.fork(next.id, next.seq);
    await copy.close();
    ({ id } = copy);
  }
  return tell(`octant run --resume ${id} "…" continues it`, io);
}

/** undefined without credentials: the instructions take more than one line. */
async function orSayHow(
  flags: AgentFlags,
  io: Io,
  options: OpenAgentOptions,
): Promise<OpenedAgent | undefined> {
  try {
    return await openAgent({ ...options, command: "run" });
  } catch (cause) {
    if (!(cause instanceof ToolError && cause.code === "UNAUTHENTICATED"))
      return explainWorkspace(cause, flags, io);
    note(`octant: ${asTyped(cause.message, io)}`, io);
    return undefined;
  }
}

async function work(
  opened: OpenedAgent,
  prompt: string,
  schema: OutputSchema | undefined,
  answer: () => string,
): Promise<RunEnded> {
  const { agent } = opened;
  const asked = prompt === "" ? "" : `${prompt}${schema?.instruction ?? ""}`;
  let end = asked === "" ? await agent.proceed() : await agent.send(await withMentions(opened, asked));
  for (let repairs = 0; schema && end.reason === "done" && repairs < MAX_REPAIRS; repairs++) {
    const wrong = schema.check(answer());
    if (wrong === undefined) break;
    end = await agent.send(
      `The answer does not fit the JSON Schema:\n${wrong}\nSend the corrected JSON value only.`,
    );
  }
  return end;
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
  throw new UsageError(`'${text}' is not a number above 0`, "octant run --help shows the limits");
}

function show(
  result: RunResult,
  schema: OutputSchema | undefined,
  flags: { readonly json: boolean; readonly "stream-json": boolean; readonly ways: ReadonlySet<string> },
  io: Io,
): number {
  const unfit = schema && result.reason === "done" ? schema.check(result.text) : undefined;
  const isFit = schema && result.reason === "done" && unfit === undefined;
  if (flags.json) {
    const output = isFit ? { output: schema.parse(result.text) } : {};
    printJson({ ...result, ...output }, io);
  } else if (isFit && !flags["stream-json"]) printJsonText(JSON.stringify(schema.parse(result.text)), io);
  else if (!flags["stream-json"] && result.text !== "") print(result.text, io);
  if (result.message !== null) logLine(result.message, io);
  if (result.unapproved.length > 0)
    logLine(
      `no one could approve ${result.unapproved.join(", ")}; this would have helped: ${[...flags.ways].join(", ")}`,
      io,
    );
  const cost = result.cost === null ? "" : `, $${result.cost.toFixed(4)}`;
  logLine(
    `session ${result.session_id}: ${counted(result.turns, "turn")}, ${result.tokens} tokens${cost}`,
    io,
  );
  if (unfit !== undefined) {
    logLine(`the answer does not fit the schema: ${unfit}`, io);
    return RUN_EXIT.UNFIT;
  }
  if (result.reason === "done" && result.unapproved.length > 0) return RUN_EXIT.UNAPPROVED;
  return EXIT_OF[result.reason];
}
