import { setImmediate as nextTurn } from "node:timers/promises";
import { createLineSplitter, ToolError } from "@octant/core";
import { readBytes } from "../read-bytes.ts";
import type { Findings, Parser } from "./case.ts";
import { openRegularFile } from "./regular-file.ts";

/** Growing output: up to `length` bytes from `offset`, or from the first retained byte after it. */
export type Growing = (
  offset: number,
  length: number,
) => { readonly start: number; readonly bytes: Uint8Array };

const POLL_MS = 100;
const PIECE_BYTES = 65_536;
/** Each turn of reading is short, so that nothing else waits for it. */
const PIECES_PER_TURN = 4;

/** Feeds a parser with output as it is written. Output that can no longer be read is reported as broken. */
export function follow(source: Growing, parser: Parser, findings: Pick<Findings, "broken">) {
  const lines = createOutputLines(parser);
  let offset = 0;
  let failure: { readonly cause: unknown } | undefined;
  const readPiece = (): boolean => {
    const { start, bytes } = source(offset, PIECE_BYTES);
    if (bytes.length === 0) return false;
    if (start > offset) lines.flush();
    lines(Buffer.from(bytes));
    offset = start + bytes.length;
    return true;
  };
  /** An error thrown in a timer would be uncaught, so it is saved for the end. */
  const tryPiece = (): boolean => {
    if (failure) return false;
    try {
      return readPiece();
    } catch (cause) {
      failure = { cause };
      clearInterval(timer);
      return false;
    }
  };
  const timer = setInterval(() => {
    for (let piece = 0; piece < PIECES_PER_TURN && tryPiece(); piece++);
  }, POLL_MS);

  return {
    stop: () => clearInterval(timer),
    /** Reads the rest; the writer has ended. */
    async finish(): Promise<boolean | undefined> {
      clearInterval(timer);
      while (tryPiece()) await nextTurn();
      lines.flush();
      const complete = parser.end();
      if (!failure) return complete;
      const { cause } = failure;
      if (!(cause instanceof ToolError)) throw cause;
      findings.broken({ name: "test results", problem: { message: cause.message } });
      return false;
    },
  };
}

const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** A file that may not exist yet. The tests know its path, so its content is untrusted and may be endless. */
export const growingFile =
  (path: string, maxBytes = MAX_FILE_BYTES): Growing =>
  (offset, length) => {
    using file = openIfThere(path);
    if (!file) return { start: offset, bytes: new Uint8Array() };
    if (file.size > maxBytes) throw tooLarge(file.size, maxBytes);
    return { start: offset, bytes: readBytes(file.fd, Math.min(length, maxBytes - offset), offset) };
  };

function openIfThere(path: string) {
  try {
    const file = openRegularFile(path);
    if (file) return file;
  } catch (cause) {
    const errno = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
    // Not written yet, or removed by the tests themselves: there is nothing to read either way.
    if (errno === "ENOENT") return undefined;
    throw unreadable(errno ?? "EIO", cause);
  }
  throw unreadable("EINVAL");
}

const unreadable = (errno: string, cause?: unknown) =>
  new ToolError(
    "IO_ERROR",
    `the runner's results file cannot be read (${errno}); did a test replace it?`,
    { errno },
    { cause },
  );

const tooLarge = (actual: number, limit: number) =>
  new ToolError("LIMIT_EXCEEDED", `the runner's results exceed ${limit} bytes; run fewer tests at once`, {
    limit,
    actual,
    what: "bytes of test results",
  });

/** A longer line is shortened to its beginning and its end. */
const MAX_LINE_BYTES = 1_048_576;

/** The lines of a runner's output, for a parser. */
export function createOutputLines(parser: Pick<Parser, "line">) {
  const onLine = (line: string) => parser.line(line);
  return createLineSplitter({ onLine, onTooLong: onLine, hasEmptyLines: true }, MAX_LINE_BYTES);
}
