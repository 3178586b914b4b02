import { createHash } from "node:crypto";
import type { CallOptions, CheckedCall } from "./dispatch.ts";
import type { Envelope, Paging } from "./envelope.ts";
import type { ToolError } from "./errors.ts";
import { type Cursors, staleCursor } from "./paging.ts";
import type { Questions } from "./questions/board.ts";
import type { Attachment, BinaryPart, DecisionNote, OngoingJob, StepContext } from "./tool.ts";

/** The metadata that an action reports about its answer while it runs. */
export interface Notes {
  paging: Paging;
  backend?: string;
  job?: OngoingJob;
  /** The envelope of a job that ended within the call, and the error that it was thrown as. */
  settled?: { readonly envelope: Envelope; readonly cause?: ToolError };
  readonly attachments: Attachment[];
  binary?: BinaryPart;
  readonly decisions: DecisionNote[];
  hides?: StepContext["hides"];
  /** The rule whose files are left out of the answer. */
  leftOut?: string;
}

export const createNotes = (): Notes => ({
  paging: { cursor: null, more: false },
  attachments: [],
  decisions: [],
});

export function createContext(
  { tool, name, input }: CheckedCall,
  cursors: Cursors,
  traceId: string,
  {
    caller,
    signal = new AbortController().signal,
    onProgress,
    onStream,
    upload,
    ask: front,
    running,
  }: CallOptions,
  notes: Notes,
  questions: Questions,
): StepContext {
  const scope = () => {
    const { cursor: _cursor, limit: _limit, ...query } = input;
    const digest = createHash("sha256").update(JSON.stringify(query)).digest("base64url");
    return `${caller.id} ${tool.name}.${name} ${digest}`;
  };
  const about = { action: `${tool.name}.${name}`, caller: caller.id, front };
  const askWith: StepContext["askWith"] = (work) => (question, more) =>
    questions.ask(question, { ...about, ...work, ...more });
  const progress: StepContext["progress"] = (update) => onProgress?.(update);
  return {
    traceId,
    signal,
    caller,
    decisions: notes.decisions,
    decided: (note) => {
      notes.decisions.push(note);
    },
    job: () => notes.job,
    hide: (hides) => {
      notes.hides = hides;
    },
    hides: (uri) => notes.hides?.(uri),
    ask: askWith({ signal, progress, job_id: running?.job_id }),
    askWith,
    front,
    progress,
    emit(chunk) {
      if (chunk.kind === "progress") onProgress?.(chunk);
      onStream?.(chunk);
    },
    detach: () => {},
    backend: (by) => {
      notes.backend = by;
    },
    attach: (attachment) => {
      notes.attachments.push(attachment);
    },
    upload,
    send: (part) => {
      notes.binary = part;
    },
    resume(position) {
      if (typeof input["cursor"] !== "string") return undefined;
      const parsed = position.safeParse(cursors.parse(scope(), input["cursor"]));
      if (!parsed.success) throw staleCursor();
      return parsed.data;
    },
    more: (position) => {
      notes.paging = { cursor: cursors.encode(scope(), position), more: true };
    },
  };
}
