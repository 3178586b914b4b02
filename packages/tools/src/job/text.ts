import type { ActionText, Envelope, Reader } from "@octant/core";
import type { z } from "zod";
import type { JobView } from "./job-view.ts";

type Job = z.output<typeof JobView>;

interface JobData {
  readonly job?: Job | undefined;
  readonly result?: unknown;
  readonly events?: readonly Readonly<Record<string, unknown>>[] | undefined;
  readonly counts?: Readonly<Record<string, number>> | undefined;
  readonly next_seq?: number | undefined;
  readonly dropped?: number | undefined;
  readonly restarted?: boolean | undefined;
}

/** The job's events, then its result as the call itself would have returned it. */
export function jobText(data: JobData, reader: Reader): ActionText {
  const { job, result, events = [], counts, next_seq, dropped, restarted } = data;
  if (!job)
    return {
      body:
        Object.entries(counts ?? {})
          .map(([state, count]) => `${state}: ${count}`)
          .join("\n") || "no jobs",
    };
  const answer = result === undefined || result === null ? undefined : resultText(result, reader);
  return {
    body: [jobLine(job), ...events.flatMap(eventLine), ...(answer === undefined ? [] : [answer])].join("\n"),
    notes: [
      dropped !== undefined && dropped > 0 && `${dropped} events lost`,
      restarted === true && "the server restarted; earlier events are lost",
    ],
    handles: answer === undefined ? { job: job.job_id, from_seq: next_seq } : {},
  };
}

function resultText(result: object, reader: Reader): string {
  // The output schema of the job's result is an envelope.
  const { meta, ...envelope } = result as Envelope;
  const { job_id: _ended, ...rest } = meta;
  return reader.envelope({ ...envelope, meta: rest });
}

export const jobsText = ({ jobs }: { readonly jobs: readonly Job[] }): ActionText => ({
  body: jobs.map((job) => `${job.job_id}  ${jobLine(job)}`).join("\n") || "no jobs",
});

function jobLine({ tool, action, state, progress, created_at }: Job): string {
  const amount = progress && [progress.total && `${progress.progress}/${progress.total}`, progress.message];
  const at = state === "running" && amount ? `, ${amount.filter(Boolean).join(" ")}` : "";
  return `${tool}.${action}: ${state}${at}, started ${created_at}`;
}

function eventLine(event: Readonly<Record<string, unknown>>): string[] {
  const chunk = event["chunk"];
  if (typeof chunk !== "object" || chunk === null) return [];
  if ("line" in chunk) return [String(chunk.line)];
  if ("text" in chunk) return [String(chunk.text).replace(/\n$/, "")];
  return "message" in chunk && chunk.message !== undefined ? [String(chunk.message)] : [];
}
