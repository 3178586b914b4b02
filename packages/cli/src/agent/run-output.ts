import { readFileSync } from "node:fs";
import { type AgentEvent, createOutputSchema, describeRetry, type OutputSchema } from "@octant/agent";
import {
  type PromptOptions,
  type PromptOutcome,
  type RunRecord,
  type RunResult,
  toBareResult,
} from "@octant/app";
import { counted, toOneLine } from "@octant/core";
import { EXIT, type Io, print, printJson, UsageError } from "../command.ts";
import { note, painted, printJsonText } from "../output.ts";
import { logLine } from "../workspace-flags.ts";

/** Shows the work of a headless agent on stderr, one line at a time. */
function createProgressLines({ stderr }: Pick<Io, "stderr">) {
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

type ToResult = Parameters<PromptOptions["onBegin"]>[0];

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
    /** For programs, a run that fails before it has a result has one too, with the turns and cost so far. */
    fail(cause: unknown): void {
      if (hasResult) return;
      const message = cause instanceof Error ? cause.message : String(cause);
      const exit_code = cause instanceof UsageError ? EXIT.USAGE : EXIT.FAILED;
      const failed = { reason: "failed", message } as const;
      if (toResult) printResult({ ...toResult(failed), exit_code });
      else printResult(toBareResult({ ...failed, session_id: null, text: "", exit_code }));
    },
    /** Shows the end of a run, and returns its exit code. */
    end({ result, unfit, ways, command }: PromptOutcome): number {
      const { text, output, exit_code } = result;
      if (command && text !== "" && !isJson) print(text, io);
      printResult(result);
      if (!command && !isJson && output !== undefined) printJsonText(JSON.stringify(output), io);
      else if (!command && !isJson && text !== "") print(text, io);
      if (result.message !== null) logLine(result.message, io);
      if (result.unapproved.length > 0) logLine(describeUnapproved(result.unapproved, ways), io);
      if (!command) showTotals(result, unfit, io);
      return exit_code;
    },
  };
}

const describeUnapproved = (actions: readonly string[], ways: ReadonlySet<string>): string =>
  `no one could approve ${actions.join(", ")}; this would have allowed it: ${[...ways].join(", ")}`;

function showTotals({ session_id, turns, tokens, cost }: RunResult, unfit: string | undefined, io: Io): void {
  const price = cost === null ? "" : `, $${cost.toFixed(4)}`;
  logLine(`session ${session_id}: ${counted(turns, "turn")}, ${tokens} tokens${price}`, io);
  if (unfit !== undefined) logLine(`the answer does not fit the schema: ${unfit}`, io);
}
