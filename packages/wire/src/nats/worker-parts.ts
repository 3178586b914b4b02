import { type CallOptions, ToolError } from "@octant/core";
import { encodeMsgPack, parseMsgPack } from "../msgpack/codec.ts";
import { orAborted } from "../or-aborted.ts";
import { readAnswer } from "../questions.ts";
import type { JobFeed, RequestRunner } from "../run-request.ts";
import type { NatsConnection } from "./connection.ts";
import type { Subjects } from "./subjects.ts";

export interface NatsWorkerOptions extends RequestRunner {
  readonly url: string;
  /** The id of the project in this workspace; its workers share its calls and jobs. */
  readonly project: string;
  readonly jobs: JobFeed & LocalJobs;
  readonly name: string;
  readonly version: string;
  readonly instructions?: string;
  readonly log: (line: string) => void;
}

interface LocalJobs {
  ended(owner: string, job_id: string, ms: number, signal: AbortSignal): Promise<unknown>;
  cancel(owner: string, job_id: string): Promise<unknown>;
}

/** What calls and jobs of one worker share. */
export interface WorkerParts {
  readonly options: NatsWorkerOptions;
  readonly connection: NatsConnection;
  readonly subjects: Subjects;
  /** By the id that a cancellation names. */
  readonly running: Map<string, AbortController>;
}

/** Publishes an event of a job, or of a call under its request id. */
export function emit({ connection: { nc }, subjects }: WorkerParts, id: string, event: object): void {
  nc.publish(subjects.event(id), encodeMsgPack({ at: Date.now(), job_id: id, ...event }));
}

/** As long as a person may take. */
const QUESTION_MS = 10 * 60_000;

/** Asks the edge that follows this job or call; without one nobody can be asked. */
export const askEdge =
  ({ connection: { nc }, subjects }: WorkerParts, id: string): NonNullable<CallOptions["ask"]> =>
  async (question, signal) => {
    signal.throwIfAborted();
    const answer = nc
      .request(subjects.ask(id), encodeMsgPack(question), { timeout: QUESTION_MS })
      .catch(() => undefined);
    const message = await orAborted(answer, signal);
    return message && readAnswer(parseMsgPack(message.data));
  };

/** The reason for which jobs are returned to the queue. */
export class WorkerStops extends Error {
  override readonly name = "WorkerStops";
}

export function toToolError({ options: { log } }: WorkerParts, cause: unknown): ToolError {
  if (cause instanceof ToolError) return cause;
  log(`a call failed outside the dispatcher: ${cause instanceof Error ? cause.stack : cause}`);
  return new ToolError("UPSTREAM_ERROR", "the worker could not answer; call again", {});
}
