import { writeFileSync } from "node:fs";
import { styleText } from "node:util";
import type { Attachment, Describe, Envelope, Progress } from "@octant/core";
import { factsOf, toOneLine, toVisible } from "@octant/core";
import type { Io } from "./command.ts";
import { showToolError } from "./failure.ts";

/** Shows an answer to a person: its content on stdout, facts and hints on stderr. */
export function showEnvelope(envelope: Envelope, describe: Describe, io: Io): void {
  const { tool, action, paging } = envelope.meta;
  if (!envelope.ok) {
    showToolError(envelope.error, `${tool}.${action}`, io);
    return;
  }
  const { body, ...about } = describe(envelope);
  const isVerbatim = !io.stdout.isTTY && isPartOf(envelope.data, body);
  write(io.stdout, isVerbatim || body === "" || body.endsWith("\n") ? body : `${body}\n`);
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
export function showProgress({ progress, total, message }: Progress, { stderr }: Io): void {
  if (!stderr.isTTY) return;
  const amount = total === undefined ? "" : `${progress}/${total}`;
  const text = [amount, message].filter(Boolean).join(" ") || `running, step ${progress}`;
  stderr.write(`${CLEAR_LINE}${toOneLine(text)}`);
}

export const clearProgress = ({ stderr }: Io): boolean => stderr.isTTY && stderr.write(CLEAR_LINE);

const CLEAR_LINE = "\r\x1b[K";

/**
 * A file's text may contain escape sequences, so they are neutralised on a terminal; elsewhere the bytes
 * stay.
 */
const write = (stream: NodeJS.WriteStream, text: string) =>
  stream.write(stream.isTTY ? toVisible(text) : text);

const hint = (text: string, { stderr }: Io) =>
  stderr.write(`${styleText("dim", toOneLine(text), { stream: stderr })}\n`);
