import type { Envelope, Meta } from "@octant/core";
import { isPlain } from "../messages.ts";

/** What a reader came for, where an answer has it; it is shown as it is, the first of them without its name. */
const PAYLOADS: ReadonlySet<string> = new Set([
  "text",
  "content",
  "markdown",
  "diff",
  "stdout",
  "stderr",
  "tail",
]);

/** An answer for a client that shows its model the text: the payload as it is, then the rest in few words. */
export function toTextAnswer({ ok, data, error, meta }: Envelope): string {
  if (ok) return [...toParts(data), toMetaLine(meta)].join("\n");
  const details = Object.keys(error.details).length > 0 ? [JSON.stringify(error.details)] : [];
  return [`${error.code}: ${error.message}`, ...details, toMetaLine(meta, meta.trace_id)].join("\n");
}

function toParts(data: unknown): string[] {
  if (!isPlain(data)) return data === null || data === undefined ? [] : [JSON.stringify(data)];
  const payloads = Object.entries(data).filter(isPayload);
  const names = new Set(payloads.map(([name]) => name));
  const rest = Object.entries(data).filter(([name, value]) => value !== undefined && !names.has(name));
  return [
    ...payloads.map(([name, text], index) => (index === 0 ? text : `[${name}]\n${text}`)),
    ...(rest.length > 0 ? [JSON.stringify(Object.fromEntries(rest))] : []),
  ];
}

const isPayload = (entry: [string, unknown]): entry is [string, string] =>
  PAYLOADS.has(entry[0]) && typeof entry[1] === "string" && entry[1] !== "";

function toMetaLine({ tool, action, backend, job_id, paging }: Meta, trace?: string): string {
  const facts = [
    `${tool}.${action}`,
    ...(backend === undefined ? [] : [`by ${backend}`]),
    ...(job_id === undefined ? [] : [`job ${job_id}`]),
    ...(paging.more ? [`more: cursor ${paging.cursor}`] : []),
    ...(trace === undefined ? [] : [`trace ${trace}`]),
  ];
  return `[${facts.join("; ")}]`;
}
