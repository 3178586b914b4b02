import type { EndReason, OutputSchema, RunEnded } from "@octant/agent";
import { ToolError } from "@octant/core";
import { awaitServers } from "../mcp-servers/await-servers.ts";
import { isSlashLine, runSlashLine } from "../slash/index.ts";
import type { SlashOutcome } from "../slash/slash-command.ts";
import { withMentions } from "./mentions.ts";
import type { OpenedAgent } from "./open-agent.ts";
import { createRunResult, type RunResult, watchUnapproved } from "./run-records.ts";

/** The exit codes of `octant run`. */
export const RUN_EXIT = {
  OK: 0,
  FAILED: 1,
  USAGE: 2,
  /** A limit was reached, or the model was in a loop. */
  LIMIT: 3,
  /** The model refused, or its answer was cut off. */
  REFUSED: 4,
  /** Done, but calls were refused because no one could approve them. */
  UNAPPROVED: 5,
  /** The answer does not match the schema. */
  UNFIT: 6,
  /** The shell convention for a command ended by Ctrl-C. */
  INTERRUPTED: 130,
} as const;

const EXIT_OF: Readonly<Record<EndReason, number>> = {
  done: RUN_EXIT.OK,
  cancelled: RUN_EXIT.INTERRUPTED,
  refused: RUN_EXIT.REFUSED,
  output_limit: RUN_EXIT.REFUSED,
  max_turns: RUN_EXIT.LIMIT,
  max_tokens: RUN_EXIT.LIMIT,
  max_cost: RUN_EXIT.LIMIT,
  max_time: RUN_EXIT.LIMIT,
  repeated_calls: RUN_EXIT.LIMIT,
  failed: RUN_EXIT.FAILED,
};

/** How often the model may correct an answer that does not match the schema. */
const MAX_REPAIRS = 2;

export interface PromptOptions {
  readonly cwd: string;
  /** The last answer must match it. */
  readonly schema: OutputSchema | undefined;
  readonly signal: AbortSignal;
  /** The run begins: `finish` makes its result if it fails. */
  onBegin(finish: (end: Pick<RunEnded, "reason" | "message">) => Omit<RunResult, "exit_code">): void;
  log(line: string): void;
}

export interface PromptOutcome {
  readonly result: RunResult;
  /** The problem of the answer with the schema. */
  readonly unfit?: string;
  /** The rules and flags that would have allowed the calls that no one could approve. */
  readonly ways: ReadonlySet<string>;
  /** The outcome of a slash command that sent nothing to the model. */
  readonly command?: SlashOutcome;
}

/** Runs one prompt, which may be a slash command, to its result. */
export async function runPrompt(
  opened: OpenedAgent,
  prompt: string,
  { cwd, schema, signal, onBegin, log }: PromptOptions,
): Promise<PromptOutcome> {
  const { agent, octant } = opened;
  using unapproved = watchUnapproved(octant.sessions.events);
  const result = createRunResult(agent.session);
  const finish = (end: Pick<RunEnded, "reason" | "message">) => result.finish(end, unapproved.ways.keys());
  const ways = () => new Set(unapproved.ways.values());
  onBegin(finish);
  let asked = prompt;
  if (isSlashLine(prompt)) {
    const command = await runCommand(opened, prompt, { cwd, signal });
    if (command instanceof ToolError) {
      const reached = finish({ reason: "max_cost", message: command.message });
      return { result: { ...reached, exit_code: RUN_EXIT.LIMIT }, ways: ways(), command: {} };
    }
    if (command?.send === undefined) {
      const { text = "", failed = false } = command ?? {};
      const done = unapproved.ways.size > 0 ? RUN_EXIT.UNAPPROVED : RUN_EXIT.OK;
      const exit_code = failed ? RUN_EXIT.FAILED : done;
      const ended = finish({ reason: failed ? "failed" : "done" });
      return { result: { ...ended, text, exit_code }, ways: ways(), command: command ?? {} };
    }
    asked = command.send;
  }
  await awaitServers(opened.servers, log);
  const unsubscribe = agent.subscribe(result.listen);
  const end = await sendUntilFit(opened, asked, schema, result.text).finally(unsubscribe);
  return { ...judge(finish(end), schema), ways: ways() };
}

/** The limit of cost also ends a command, whose sub-agents spend. */
const runCommand = (
  opened: OpenedAgent,
  line: string,
  options: { readonly cwd: string; readonly signal: AbortSignal },
): Promise<SlashOutcome | ToolError | undefined> =>
  runSlashLine(line, { opened, ...options }).catch((cause: unknown) => {
    if (cause instanceof ToolError && cause.code === "LIMIT_EXCEEDED") return cause;
    throw cause;
  });

async function sendUntilFit(
  opened: OpenedAgent,
  prompt: string,
  schema: OutputSchema | undefined,
  answered: () => string,
): Promise<RunEnded> {
  const { agent } = opened;
  const asked = prompt === "" ? "" : `${prompt}${schema?.instruction ?? ""}`;
  let end = asked === "" ? await agent.proceed() : await agent.send(await withMentions(opened, asked));
  for (let repairs = 0; schema && end.reason === "done" && repairs < MAX_REPAIRS; repairs++) {
    const wrong = schema.check(answered());
    if (wrong === undefined) break;
    end = await agent.send(
      `The answer does not fit the JSON Schema:\n${wrong}\nSend the corrected JSON value only.`,
    );
  }
  return end;
}

/** Completes the result with the parsed answer and the exit code. */
function judge(result: Omit<RunResult, "exit_code">, schema: OutputSchema | undefined) {
  const exit_code = EXIT_OF[result.reason];
  if (result.reason !== "done") return { result: { ...result, exit_code } };
  const unfit = schema?.check(result.text);
  if (unfit !== undefined) return { result: { ...result, exit_code: RUN_EXIT.UNFIT }, unfit };
  const output = schema ? { output: schema.parse(result.text) } : {};
  const isApproved = result.unapproved.length === 0;
  return { result: { ...result, ...output, exit_code: isApproved ? exit_code : RUN_EXIT.UNAPPROVED } };
}
