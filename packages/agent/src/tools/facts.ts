import type { AnyAction, Envelope } from "@octant/core";
import { z } from "zod";
import type { ChangedFile, ToolFacts } from "../tool-executor.ts";
import { PlanMark, PlanStatus } from "./plan-marks.ts";

const File = z.object({ uri: z.string().startsWith("file:"), hash: z.string().nullable() });

/** The field names that all tools share; a field of another form does not count. */
const Data = z.object({
  diff: z.string().optional().catch(undefined),
  undo: z.string().optional().catch(undefined),
  proc_id: z.string().optional().catch(undefined),
  exit_code: z.number().nullable().optional().catch(undefined),
  files: z.array(z.unknown()).catch([]),
});

/** Extracts facts for front ends and the ledger from an answer. */
export function factsOf({ ok, data, meta }: Envelope, act: AnyAction | undefined): ToolFacts | undefined {
  const { data: fields } = Data.safeParse(data);
  if (!ok || !fields) return undefined;
  const { diff, undo, proc_id, exit_code } = fields;
  const files = [data, ...fields.files]
    .flatMap((one) => File.safeParse(one).data ?? [])
    .map(({ uri, hash }): ChangedFile => ({ path: uri, hash }));
  const isDryRun = diff !== undefined && act?.access === "write";
  const facts: ToolFacts = {
    ...(files.length > 0 && act?.access === "write" && !isDryRun && { changed: files }),
    ...(files.length > 0 && act?.access === "read" && { read: files }),
    ...(diff !== undefined && { diff }),
    ...(undo !== undefined && { undo_ref: undo }),
    ...(meta.job_id !== undefined && { job_id: meta.job_id }),
    ...(proc_id !== undefined && { proc_id }),
    ...(exit_code !== undefined && { exit_code }),
    ...planOf(data),
  };
  return Object.keys(facts).length > 0 ? facts : undefined;
}

const PlanData = PlanMark.omit({ entries: true }).extend({
  steps: z.array(z.object({ content: z.string(), state: PlanStatus })),
});

function planOf(data: unknown): Pick<ToolFacts, "plan"> {
  const { data: plan } = PlanData.safeParse(data);
  if (!plan) return {};
  const { steps, ...about } = plan;
  return { plan: { ...about, entries: steps.map(({ content, state: status }) => ({ content, status })) } };
}
