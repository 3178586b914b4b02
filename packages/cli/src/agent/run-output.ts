import { readFileSync } from "node:fs";
import {
  type AgentEvent,
  createOutputSchema,
  describeRetry,
  type EndReason,
  type OutputSchema,
  type RunEnded,
} from "@octant/agent";
import { type RunRecord, type RunResult, toBareResult } from "@octant/app";
import { counted, toOneLine } from "@octant/core";
import { EXIT, type Io, print, printJson, UsageError } from "../command.ts";
import { note, painted, printJsonText } from "../output.ts";
import { logLine } from "../workspace-flags.ts";

/** The exit codes of `octant run`, in addition to those of every command. */
export const RUN_EXIT = {
  ...EXIT,
  /** A limit was reached, or the model was in a loop. */
  LIMIT: 3,
  /** The model refused, or its answer was cut off. */
  REFUSED: 4,
  /** Done, but calls were refused because no one could approve them. */
  UNAPPROVED: 5,
  /** The answer does not match the schema. */
  UNFIT: 6,
} as const;

export const EXIT_OF: Readonly<Record<EndReason, number>> = {
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

/** Shows the work of a headless agent on stderr, one line at a time. */
export function createProgressLines({ stderr }: Pick<Io, "stderr">) {
  const write = (text: string) => note(painted("dim", text, stderr), { stderr });
  /** `by` is the role of a sub-agent. */
  return (event: AgentEvent, by?: string): void => {
    switch (event.type) {
      case "tool_began":
        write(`• ${by === undefined ? "" : `${toOneLine(by)}: `}${toOneLine(event.title)}`);
        break;
      case "tool_ended":
        if (event.is_error) write(`  ${event.code ?? "failed"}: ${firstLine(event.content)}`);
        break;
      case "retry":
        write(`  ${toOneLine(describeRetry(event))}`);
        break;
      case "compaction":
        write(`  compacted: ${event.tokens_before} → ${event.tokens_after} tokens`);
        break;
      case "notice":
        write(`  ${toOneLine(event.text)}`);
        break;
    }
  };
}

const firstLine = (content: readonly { readonly type: string; readonly text?: string }[]): string => {
  const text = content.find(({ type }) => type === "text")?.text ?? "";
  const [line = ""] = text.replace(/^[A-Z_]+: /, "").split("\n", 1);
  return toOneLine(line);
};

/** Loads the schema for `--output-schema`. */
export function loadOutputSchema(file: string): OutputSchema {
  try {
    return createOutputSchema(JSON.parse(readFileSync(file, "utf8")));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`--output-schema ${file}: ${reason}`, "it has to be a file with a JSON Schema");
  }
}

interface ReportFlags {
  readonly json: boolean;
  readonly "stream-json": boolean;
  readonly "input-json": boolean;
}

/** Half a character, such as of a file name, would make the line unreadable for strict parsers. */
const wellFormed = (_: string, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value);

type ToResult = (end: Pick<RunEnded, "reason" | "message">) => Omit<RunResult, "exit_code">;

/** Prints the events and the result of a run in the form that the flags choose. */
export function createReport(flags: ReportFlags, io: Io) {
  const isStream = flags["stream-json"] || flags["input-json"];
  const isJson = isStream || flags.json;
  const showProgress = createProgressLines(io);
  const printLine = (record: unknown) => void printJsonText(JSON.stringify(record, wellFormed), io);
  const printRecord = (record: RunRecord) => printLine(record);
  let hasResult = false;
  let toResult: ToResult | undefined;
  const printResult = (result: RunResult) => {
    hasResult = true;
    if (isStream) printRecord(result);
    else if (flags.json) printJson(result, io);
  };
  return {
    isJson,
    event(event: AgentEvent): void {
      if (isStream) printLine(event);
      else showProgress(event);
    },
    /** An event of a sub-agent, which has a log of its own. */
    member(role: string, event: AgentEvent): void {
      if (!isStream) showProgress(event, role);
    },
    record: printRecord,
    /** Begins a run: it has its own result, which `finish` completes if the run fails. */
    begin(finish: ToResult): void {
      hasResult = false;
      toResult = finish;
    },
    /** The result of a slash command, whose sub-agents may have spent something. */
    command(result: RunResult, ways: Iterable<string>): void {
      printResult(result);
      if (result.unapproved.length > 0) tellUnapproved(result.unapproved, ways, io);
    },
    /** For programs, a run that fails before it has a result has one too, with the turns and cost so far. */
    fail(cause: unknown): void {
      if (hasResult) return;
      const message = cause instanceof Error ? cause.message : String(cause);
      const exit_code = cause instanceof UsageError ? EXIT.USAGE : EXIT.FAILED;
      const failed = { reason: "failed", message } as const;
      if (toResult) printResult({ ...toResult(failed), exit_code });
      else printResult(toBareResult({ ...failed, session_id: null, text: "", exit_code }));
    },
    /** Returns the exit code. `ways` would have helped with calls that no one could approve. */
    result(
      result: Omit<RunResult, "exit_code">,
      schema: OutputSchema | undefined,
      ways: ReadonlySet<string>,
    ): number {
      const isDone = result.reason === "done";
      const unfit = schema && isDone ? schema.check(result.text) : undefined;
      const output = schema && isDone && unfit === undefined ? { output: schema.parse(result.text) } : {};
      const exit_code =
        unfit !== undefined
          ? RUN_EXIT.UNFIT
          : isDone && result.unapproved.length > 0
            ? RUN_EXIT.UNAPPROVED
            : EXIT_OF[result.reason];
      printResult({ ...result, ...output, exit_code });
      if (!isJson && "output" in output) printJsonText(JSON.stringify(output.output), io);
      else if (!isJson && result.text !== "") print(result.text, io);
      showEnd(result, unfit, ways, io);
      return exit_code;
    },
  };
}

const tellUnapproved = (actions: readonly string[], ways: Iterable<string>, io: Io) =>
  logLine(
    `no one could approve ${actions.join(", ")}; this would have helped: ${[...new Set(ways)].join(", ")}`,
    io,
  );

function showEnd(
  { message, unapproved, session_id, turns, tokens, cost }: Omit<RunResult, "exit_code">,
  unfit: string | undefined,
  ways: ReadonlySet<string>,
  io: Io,
): void {
  if (message !== null) logLine(message, io);
  if (unapproved.length > 0) tellUnapproved(unapproved, ways, io);
  const price = cost === null ? "" : `, $${cost.toFixed(4)}`;
  logLine(`session ${session_id}: ${counted(turns, "turn")}, ${tokens} tokens${price}`, io);
  if (unfit !== undefined) logLine(`the answer does not fit the schema: ${unfit}`, io);
}
