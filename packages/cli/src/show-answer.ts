import { writeFileSync } from "node:fs";
import {
  type Attachment,
  type Describe,
  type Envelope,
  ERRORS,
  type ErrorBody,
  type ErrorCode,
  factsOf,
  type Progress,
  ToolError,
  toOneLine,
} from "@octant/core";
import { EXIT, type Io, UsageError } from "./command.ts";
import { explainListening } from "./listen-failure.ts";
import { note, painted, showBriefly, write } from "./output.ts";
import { asTyped } from "./person-command.ts";

/** Shows an answer to a person: its content on stdout, facts and hints on stderr. */
export function showEnvelope(
  envelope: Envelope,
  describe: Describe,
  io: Io,
  /** The server whose tools were called; those of this folder when absent. */
  via?: string,
): void {
  const { tool, action, paging } = envelope.meta;
  if (!envelope.ok) {
    const { error } = envelope;
    showLine(`${error.code}: ${error.message}`, hintForCall(error, { tool, action, via }), io);
    return;
  }
  const { body, ...about } = describe(envelope);
  const isVerbatim = !io.stdout.isTTY && isPartOf(envelope.data, body);
  write(isVerbatim || body === "" || body.endsWith("\n") ? body : `${body}\n`, io);
  const facts = factsOf(about);
  if (facts.length > 0) hint(facts.join("; "), io);
  if (paging.more) hint(`there is more: call again with cursor=${paging.cursor}`, io);
}

/** Text that the data contains verbatim, such as a file's, must reach a pipe unchanged. */
const isPartOf = (data: unknown, text: string): boolean =>
  typeof data === "object" && data !== null && Object.values(data).includes(text);

/** Saves attachments that are neither text nor data, or reports them. */
export function showAttachments(attachments: readonly Attachment[], file: string | undefined, io: Io): void {
  const [first] = attachments;
  if (first && file !== undefined) writeFileSync(file, first.bytes);
  if (!first && file !== undefined) hint(`nothing saved: no picture or sound came with the answer`, io);
  for (const { mime, bytes } of attachments) {
    const saved = file === undefined ? "--output FILE saves it" : `saved as ${file}`;
    hint(`${mime}, ${bytes.length} bytes; ${saved}`, io);
  }
}

/** A line that is overwritten until the answer arrives; terminals only. */
export function showProgress({ progress, total, message }: Progress, io: Io): void {
  const amount = total === undefined ? "" : `${progress}/${total}`;
  const text = [amount, message].filter(Boolean).join(" ") || `running, step ${progress}`;
  showBriefly(toOneLine(text), io);
}

export const clearProgress = (io: Io): boolean => showBriefly("", io);

const hint = (text: string, io: Io) => note(painted("dim", toOneLine(text), io.stderr), io);

/** Reports an exception as one line and a hint on stderr; returns the exit code. */
export function showFailure(thrown: unknown, io: Io): number {
  const cause = explainListening(thrown);
  const message = cause instanceof Error ? cause.message : String(cause);
  if (cause instanceof UsageError) showLine(message, cause.hint, io);
  else if (cause instanceof ToolError)
    showLine(`${cause.code}: ${message}`, wayOut(cause) ?? hintFor(cause.code), io);
  else showLine(message, "OCTANT_DEBUG=1 shows where it happened", io);
  if (io.env["OCTANT_DEBUG"]) note(`${thrown instanceof Error ? thrown.stack : thrown}`, io);
  return cause instanceof UsageError ? EXIT.USAGE : EXIT.FAILED;
}

/** The alternative that an UNSUPPORTED error names. */
const wayOut = ({ code, details }: Pick<ErrorBody, "code" | "details">): string | undefined =>
  code === "UNSUPPORTED" ? String(Object(details).how ?? "") : undefined;

/** For failures outside of a call. */
function hintFor(code: ErrorCode): string {
  if (code === "UNKNOWN_TOOL" || code === "UNKNOWN_ACTION") return "octant tools lists them";
  if (TOLD.has(code)) return "";
  if (ERRORS[code].retry) return "trying again may help";
  return "octant doctor checks for other problems";
}

/** Errors whose message is enough; checking the machine would not help. */
const TOLD: ReadonlySet<ErrorCode> = new Set([
  ...(["NOT_FOUND", "ALREADY_EXISTS", "NOT_A_FILE", "NOT_A_DIRECTORY"] as const),
  ...(["NOT_TEXT", "NOT_A_REPOSITORY", "UNAUTHENTICATED", "LIMIT_EXCEEDED", "LOCKED"] as const),
  "INVALID_ARGUMENT",
]);

function hintForCall(
  error: ErrorBody,
  { tool, action, via }: { readonly tool: string; readonly action: string; readonly via: string | undefined },
): string {
  // `octant help` knows only the tools of this folder.
  const help = via === undefined ? `octant help ${tool}` : `octant call --via ${via} ${tool}.help`;
  const about = via === undefined ? `octant help ${tool}.${action}` : `${help} about=${action}`;
  if (error.code === "UNKNOWN_TOOL") return via === undefined ? "octant tools lists them" : "";
  if (error.code === "UNKNOWN_ACTION") return `${help} shows what each does`;
  if (error.code === "INVALID_ARGUMENT") return `${about} shows the accepted input`;
  if (error.code === "INTERNAL") return "the line above has the details; please report it";
  if (ERRORS[error.code].retry) return "calling again may help";
  const instead = wayOut(error);
  if (instead !== undefined) return instead;
  return Object.keys(error.details).length > 0 ? "--json shows the details" : "";
}

function showLine(message: string, hint: string, io: Io): void {
  // Programs such as git explain themselves in several lines.
  const line = message
    .trim()
    .split(/\s*\n\s*/)
    .join("; ");
  note([painted("red", "octant:", io.stderr), ` ${toOneLine(asTyped(line, io))}`], io);
  if (hint) note(painted("dim", `hint: ${toOneLine(asTyped(hint, io))}`, io.stderr), io);
}
