import { action, pagingInput } from "@octant/core";
import { type KeptRecord, readAudit, verifyAudit } from "@octant/runtime";
import { z } from "zod";
import { auditPlaceOf } from "../audit-place.ts";
import { READ } from "./kinds.ts";
import type { ConsoleParts } from "./parts.ts";
import { AuditRow, ChainState, EditRow } from "./shapes.ts";

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

export const edits = ({ octant }: ConsoleParts) =>
  action({
    summary: "List the calls that changed files, newest first, by whom.",
    ...READ,
    input: z.strictObject({
      file: z.string().optional().describe("Only of this path or a part of it"),
      ...pagingInput(100, 1_000),
    }),
    output: z.object({
      edits: z.array(EditRow),
      names_files: z
        .boolean()
        .describe('false: the log has no file names, unless audit.arguments is set to "full"'),
    }),
    errors: ["INVALID_CURSOR"],
    examples: [{ title: "All of them", input: {} }],
    run({ file, limit }, ctx) {
      const from = ctx.resume(z.int()) ?? 0;
      const found = loadRecords(octant)
        .records.filter((record) => record.kind === "call" && EDITS.has(record.action))
        .map(toEdit)
        .filter(({ files }) => file === undefined || files.some((one) => one.includes(file)));
      if (from + limit < found.length) ctx.more(from + limit);
      const names_files = octant.config.settings.audit.arguments === "full";
      return { edits: found.slice(from, from + limit), names_files };
    },
  });

/** The calls that change files by name. */
const EDITS: ReadonlySet<string> = new Set([
  "fs.write",
  "fs.apply_patch",
  "fs.rm",
  "fs.mkdir",
  "code.rename",
  "code.apply_action",
  "turn.undo",
  "turn.redo",
]);

/** Newest first. */
function loadRecords({ workspace: { state } }: ConsoleParts["octant"]) {
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

function matches(record: KeptRecord, { caller, action: name, outcome, trace, since, until, text }: Filter) {
  if (since !== undefined && record.time < since) return false;
  if (until !== undefined && record.time > until) return false;
  if (caller !== undefined && !("caller" in record && record.caller === caller)) return false;
  if (name !== undefined && !("action" in record && record.action.startsWith(name))) return false;
  if (trace !== undefined && !("trace" in record && record.trace === trace)) return false;
  if (outcome !== undefined && !("code" in record && outcomeOf(record) === outcome)) return false;
  return text === undefined || JSON.stringify(record).includes(text);
}

function outcomeOf(record: Extract<KeptRecord, { readonly code: unknown }>): Filter["outcome"] {
  if (record.code === "OK") return "ok";
  const isDenied = record.kind === "call" && record.decisions.some((one) => one.outcome === "deny");
  return isDenied ? "denied" : "failed";
}

/** Without the hashes of the chain. */
function toRow(record: KeptRecord) {
  const { prev: _prev, hash: _hash, ...row } = record;
  return "decisions" in row ? { ...row, decisions: row.decisions.map((one) => ({ ...one })) } : row;
}

function toEdit(record: KeptRecord) {
  // The filter before has left calls only.
  const { time, trace, action: name, caller, session, code, arguments: input } = record as CallRecord;
  return { time, trace, action: name, caller, session, code, files: filesIn(input) };
}

type CallRecord = Extract<KeptRecord, { readonly kind: "call" }>;

function filesIn(input: unknown): string[] {
  const { uri, files, patch } = Object(input);
  const named = [uri, ...(Array.isArray(files) ? files : [])].filter((one) => typeof one === "string");
  const patched = typeof patch === "string" ? [...patch.matchAll(PATCHED)].map(([, path = ""]) => path) : [];
  return [...new Set([...named, ...patched])];
}

/** The headers of a unified diff, and of the patch format of agents. */
const PATCHED = /^(?:\+\+\+ (?:b\/)?|\*\*\* (?:Add|Update|Delete) File: )(?!\/dev\/null)(\S.*)$/gm;
