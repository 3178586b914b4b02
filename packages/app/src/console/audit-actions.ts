import { action, pagingInput } from "@octant/core";
import { type ChainRecord, readAudit, verifyAudit } from "@octant/runtime";
import { z } from "zod";
import { auditPlaceOf } from "../audit-place.ts";
import { READ } from "./kinds.ts";
import type { ConsoleParts } from "./parts.ts";
import { AuditRow, ChainState } from "./shapes.ts";

/** The newest records that are looked through. */
const MAX_SCANNED = 50_000;

export const audit = ({ octant }: ConsoleParts) =>
  action({
    summary: "Show records of the audit log, newest first.",
    ...READ,
    input: z.strictObject({
      caller: z.string().optional(),
      action: z.string().optional().describe("Such as fs.write, or the beginning of it"),
      outcome: z.enum(["ok", "failed", "denied"]).optional(),
      trace: z.string().optional(),
      since: z.string().optional().describe("ISO 8601"),
      until: z.string().optional().describe("ISO 8601"),
      text: z.string().optional().describe("Anywhere in the record"),
      ...pagingInput(100, 1_000),
    }),
    output: z.object({ records: z.array(AuditRow), damaged: z.array(z.string()) }),
    errors: ["INVALID_CURSOR"],
    examples: [{ title: "What was denied", input: { outcome: "denied" } }],
    run({ limit, ...filter }, ctx) {
      const from = ctx.resume(z.int()) ?? 0;
      const { records, damaged } = loadRecords(octant);
      const found = records.filter((record) => matches(record, filter));
      if (from + limit < found.length) ctx.more(from + limit);
      return { records: found.slice(from, from + limit).map(toRow), damaged };
    },
  });

export const chain = ({ octant }: ConsoleParts) =>
  action({
    summary: "Verify that the audit log is whole.",
    ...READ,
    input: z.strictObject({}),
    output: ChainState,
    examples: [{ title: "Verify it", input: {} }],
    async run() {
      const { folder, key, witnesses } = auditPlaceOf(octant.workspace.state);
      const { problems, ...verdict } = await verifyAudit(folder, key, witnesses);
      return { ...verdict, problems: problems.map((one) => ({ ...one })) };
    },
  });

/** Newest first. */
export function loadRecords({ workspace: { state } }: ConsoleParts["octant"]) {
  const damaged: string[] = [];
  const onDamage = (file: string) => void damaged.push(file);
  const records = readAudit(auditPlaceOf(state).folder, { limit: MAX_SCANNED, onDamage }).reverse();
  return { records, damaged };
}

interface Filter {
  readonly caller?: string | undefined;
  readonly action?: string | undefined;
  readonly outcome?: "ok" | "failed" | "denied" | undefined;
  readonly trace?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly text?: string | undefined;
}

function matches(record: ChainRecord, { caller, action: name, outcome, trace, since, until, text }: Filter) {
  if (since !== undefined && record.time < since) return false;
  if (until !== undefined && record.time > until) return false;
  if (caller !== undefined && !("caller" in record && record.caller === caller)) return false;
  if (name !== undefined && !("action" in record && record.action.startsWith(name))) return false;
  if (trace !== undefined && !("trace" in record && record.trace === trace)) return false;
  if (outcome !== undefined && !("code" in record && outcomeOf(record) === outcome)) return false;
  return text === undefined || JSON.stringify(record).includes(text);
}

function outcomeOf(record: Extract<ChainRecord, { readonly code: unknown }>): Filter["outcome"] {
  if (record.code === "OK") return "ok";
  const isDenied = record.kind === "call" && record.decisions.some((one) => one.outcome === "deny");
  return isDenied ? "denied" : "failed";
}

/** Without the hashes of the chain. */
function toRow(record: ChainRecord) {
  const { prev: _prev, hash: _hash, ...row } = record;
  return "decisions" in row ? { ...row, decisions: row.decisions.map((one) => ({ ...one })) } : row;
}
