import type { AnyAction, Envelope } from "@octant/core";
import { z } from "zod";
import type { ChangedFile, ToolFacts } from "../tool-executor.ts";
import { PlanMark, PlanStatus } from "./plan-marks.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Extracts facts for front ends and the ledger from an answer, by the field names that all tools share. */
export function factsOf({ ok, data, meta }: Envelope, act: AnyAction | undefined): ToolFacts | undefined {
  if (!ok || !isFields(data)) return undefined;
  const isDryRun = typeof data["diff"] === "string" && act?.access === "write";
  const files = filesOf(data);
  const facts: ToolFacts = {
    ...(files.length > 0 && act?.access === "write" && !isDryRun && { changed: files }),
    ...(files.length > 0 && act?.access === "read" && { read: files }),
    ...(typeof data["diff"] === "string" && { diff: data["diff"] }),
    ...(typeof data["undo"] === "string" && { undo_ref: data["undo"] }),
    ...(meta.job_id !== undefined && { job_id: meta.job_id }),
    ...(typeof data["proc_id"] === "string" && { proc_id: data["proc_id"] }),
    ...(isExitCode(data["exit_code"]) && { exit_code: data["exit_code"] }),
    ...planOf(data),
  };
  return Object.keys(facts).length > 0 ? facts : undefined;
}

const PlanData = PlanMark.omit({ entries: true }).extend({
  steps: z.array(z.object({ content: z.string(), state: PlanStatus })),
});

function planOf(data: Fields): Pick<ToolFacts, "plan"> {
  const { data: plan } = PlanData.safeParse(data);
  if (!plan) return {};
  const { steps, ...about } = plan;
  return { plan: { ...about, entries: steps.map(({ content, state: status }) => ({ content, status })) } };
}

function filesOf(data: Fields): readonly ChangedFile[] {
  const listed = Array.isArray(data["files"]) ? data["files"].filter(isFields) : [];
  return [data, ...listed].flatMap(({ uri, hash }) =>
    typeof uri === "string" && uri.startsWith("file:") && (typeof hash === "string" || hash === null)
      ? [{ path: uri, hash }]
      : [],
  );
}

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;
const isExitCode = (value: unknown): value is number | null => value === null || typeof value === "number";
