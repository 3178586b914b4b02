import { styleText } from "node:util";
import { ERRORS, type ErrorBody, type ErrorCode, ToolError, toOneLine } from "@octant/core";
import { EXIT, type Io, UsageError } from "./command.ts";

/** Reports an exception as one line and a hint on stderr; returns the exit code. */
export function showFailure(cause: unknown, io: Io): number {
  const message = cause instanceof Error ? cause.message : String(cause);
  if (cause instanceof UsageError) showLine(message, cause.hint, io);
  else if (cause instanceof ToolError) showLine(`${cause.code}: ${message}`, hintFor(cause.code), io);
  else showLine(message, "OCTANT_DEBUG=1 shows where it happened", io);
  if (io.env["OCTANT_DEBUG"]) io.stderr.write(`${cause instanceof Error ? cause.stack : cause}\n`);
  return cause instanceof UsageError ? EXIT.USAGE : EXIT.FAILED;
}

/** For failures outside of a call. */
function hintFor(code: ErrorCode): string {
  if (code === "UNKNOWN_TOOL" || code === "UNKNOWN_ACTION") return "octant tools lists them";
  return ERRORS[code].retry ? "trying again may help" : "octant doctor checks for other problems";
}

/** Reports the error of a tool. */
export function showToolError(error: ErrorBody, called: string, io: Io): void {
  showLine(`${error.code}: ${error.message}`, hintForCall(error, called), io);
}

function hintForCall(error: ErrorBody, called: string): string {
  const [tool = called] = called.split(".");
  if (error.code === "UNKNOWN_TOOL") return "octant tools lists them";
  if (error.code === "UNKNOWN_ACTION") return `octant help ${tool} shows what each does`;
  if (error.code === "INVALID_ARGUMENT") return `octant help ${called} shows what fits`;
  if (error.code === "INTERNAL") return "the line above has the details; please report it";
  if (ERRORS[error.code].retry) return "calling again may help";
  return Object.keys(error.details).length > 0 ? "--json shows the details" : "";
}

function showLine(message: string, hint: string, { stderr }: Io): void {
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { stream: stderr });
  stderr.write(`${style("red", "octant:")} ${toOneLine(message)}\n`);
  if (hint) stderr.write(`${style("dim", `hint: ${toOneLine(hint)}`)}\n`);
}
