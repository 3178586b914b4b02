import type { Call, DispatcherOptions } from "@octant/core";
import { hashArguments, showArguments } from "./arguments.ts";
import type { RecordCallOptions } from "./record-call.ts";

const MAX_NAME_CHARS = 100;

/** Records calls that failed validation; their names and arguments are unchecked. */
export const recordRejected =
  ({ log, redact, arguments: how }: RecordCallOptions): NonNullable<DispatcherOptions["onRejected"]> =>
  ({ traceId, call, caller, code }) => {
    const time = new Date().toISOString();
    const action = redact(toName(call));
    const input = toBounded(call.input);
    const shown = how === "full" ? showArguments(input, redact) : hashArguments(input);
    const facts = { time, trace: traceId, session: caller.id, caller: caller.id, action };
    log.appendSoon(() => ({ kind: "call", ...facts, decisions: [], code, duration: 0, ...shown }));
  };

/** Whole or not at all: half a secret would not be detected. */
function toName({ tool, action }: Call): string {
  const name = `${tool}.${typeof action === "string" ? action : ""}`;
  return name.length <= MAX_NAME_CHARS ? name.toWellFormed() : `(a name of ${name.length} characters)`;
}

const MAX_CHARS = 64 * 1024;
const MAX_DEPTH = 20;

/** A bounded copy of unchecked data: parts too long or too deep are replaced by their size or omitted. */
function toBounded(value: unknown): unknown {
  let left = MAX_CHARS;
  const take = (text: string): string => {
    // Whole or not at all: half a secret would not be detected.
    const kept = text.length <= left ? text : `(${text.length} characters)`;
    left -= kept.length + 1;
    return kept;
  };
  const visit = (one: unknown, depth: number): unknown => {
    if (typeof one === "string") return take(one);
    left -= 1;
    if (["bigint", "symbol", "function"].includes(typeof one)) return `(a ${typeof one})`;
    if (typeof one !== "object" || one === null) return one;
    if (depth > MAX_DEPTH) return "(too deep)";
    if (Array.isArray(one)) return whileRoom(one, (item) => visit(item, depth + 1));
    const members = whileRoom(Object.entries(one), ([key, member]) => [take(key), visit(member, depth + 1)]);
    return Object.fromEntries(members);
  };
  const whileRoom = <T, R>(items: readonly T[], copy: (item: T) => R): R[] => {
    const copies: R[] = [];
    for (const item of items) {
      if (left <= 0) break;
      copies.push(copy(item));
    }
    return copies;
  };
  return visit(value, 0);
}
