import type { Answers, Attachment, Envelope, Reply, Shorten, ToText } from "@octant/core";
import { isPlain, type Plain } from "./messages.ts";
import type { ContentBlock, MediaBlock } from "./sources.ts";

/** Above this the text block is only the head of the answer. */
export const MAX_TEXT_BYTES = 64 * 1024;

const MAX_BYTES_PER_UNIT = 3;
const CUT_NOTE = "\n[cut here: the whole answer is in structuredContent; long content is behind its ref]";

const CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo";

/**
 * How the names of clients start that hand the text of an answer to their model, in lower case and with letters and
 * digits only: Gemini CLI appends the name of the server, VS Code that of its edition.
 */
const TEXT_CLIENTS =
  /^(claudeai|claudecode|cline|codexmcpclient|cursor|geminiclimcpclient|goose|opencode|roocode|visualstudiocode|windsurf|zed)/;

/** A client's description of itself, from its handshake or from each request. */
export const clientInfoIn = (handshake: Plain | undefined, meta: Plain | undefined): unknown =>
  handshake ? handshake["clientInfo"] : meta?.[CLIENT_INFO_KEY];

/** Chooses the form for a client: the one that the server was started with, otherwise by the client's name. */
export const createFormFor =
  (answers: Answers | ToResult | undefined) =>
  (clientInfo: unknown): Answers => {
    // An answer that is not the envelope does not match its schema.
    if (answers !== undefined) return answers === "structured" ? "structured" : "text";
    const name = isPlain(clientInfo) ? String(clientInfo["name"]) : "";
    return TEXT_CLIENTS.test(name.toLowerCase().replaceAll(/[^a-z0-9]/g, "")) ? "text" : "structured";
  };

export interface CallToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: Envelope;
  readonly isError: boolean;
}

/** Converts an answer to a result. */
export type ToResult = (reply: Reply) => CallToolResult;

/**
 * How to write each form of an answer; an edge may write its own. A client that is not known may show its model only
 * the text, so it gets the text form beside the structured content. Where the person has chosen structured answers,
 * each fact comes once: the text is one line, and the lists are shortened.
 */
export const toResultsFor = (
  answers: Answers | ToResult | undefined,
  toText: ToText,
  shorten: Shorten,
): Readonly<Record<Answers, ToResult>> =>
  typeof answers === "function"
    ? { structured: answers, text: answers }
    : {
        structured:
          answers === "structured"
            ? toStructuredResult(toLine, shorten)
            : toStructuredResult(textOf(toText), (envelope) => envelope),
        text: toTextResult(textOf(toText)),
      };

/** The text of a reply, for a model. */
type WriteText = (reply: Reply) => string;

const textOf =
  (toText: ToText): WriteText =>
  ({ envelope, text }) =>
    text ?? toText(envelope);

/** For clients that show the structured content: the same facts are not sent twice. */
const toLine: WriteText = ({ envelope: { ok, error } }) =>
  ok ? "ok; the answer is in structuredContent" : `${error.code}: ${error.message}`;

const toStructuredResult =
  (write: WriteText, shorten: Shorten): ToResult =>
  (reply) => ({
    content: [{ type: "text", text: headOf(write(reply)) }, ...reply.attachments.map(toMedia)],
    structuredContent: shorten(reply.envelope),
    isError: !reply.envelope.ok,
  });

const toTextResult =
  (write: WriteText): ToResult =>
  (reply) => ({
    content: [{ type: "text", text: write(reply) }, ...reply.attachments.map(toMedia)],
    isError: !reply.envelope.ok,
  });

const toMedia = ({ kind, bytes, mime }: Attachment): MediaBlock => ({
  type: kind,
  data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
  mimeType: mime,
});

function headOf(text: string): string {
  const surelyFits = text.length * MAX_BYTES_PER_UNIT <= MAX_TEXT_BYTES;
  if (surelyFits || (text.length <= MAX_TEXT_BYTES && Buffer.byteLength(text) <= MAX_TEXT_BYTES)) return text;
  // encodeInto stops before a character that does not fit.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(MAX_TEXT_BYTES));
  return text.slice(0, read) + CUT_NOTE;
}
