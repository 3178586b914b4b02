import { styleText } from "node:util";
import { ERRORS, type ErrorBody, ToolError } from "@octant/core";
import { EXIT, type Io, UsageError } from "./command.ts";
import { toOneLine } from "./visible.ts";

/** One line and a hint on stderr for whatever a command threw; the exit code comes back. */
export function showFailure(cause: unknown, io: Io): number {
  if (cause instanceof UsageError) {
    showLine(cause.message, cause.hint, io);
    return EXIT.USAGE;
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  const isKnown = cause instanceof ToolError;
  showLine(
    isKnown ? `${cause.code}: ${message}` : message,
    isKnown ? "" : "OCTANT_DEBUG=1 shows where it happened",
    io,
  );
  if (io.env["OCTANT_DEBUG"]) io.stderr.write(`${cause instanceof Error ? cause.stack : cause}\n`);
  return EXIT.FAILED;
}

/** The error that a tool answered with. */
export function showToolError(error: ErrorBody, called: string, io: Io): void {
  showLine(`${error.code}: ${error.message}`, hintFor(error, called), io);
}

function hintFor(error: ErrorBody, called: string): string {
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
