import type { Call, DispatcherOptions } from "@octant/core";
import { hashArguments, showArguments } from "./arguments.ts";
import { toBounded } from "./bounded.ts";
import type { RecordCallOptions } from "./record-call.ts";

const MAX_NAME_CHARS = 100;

/** Records calls that failed validation; their names and arguments are unchecked. */
export const recordUnfit =
  ({ log, redact, arguments: how }: RecordCallOptions): NonNullable<DispatcherOptions["onUnfit"]> =>
  ({ traceId, call, caller, code }) => {
    const time = new Date().toISOString();
    const action = redact(toName(call));
    const input = toBounded(call.input);
    const shown = how === "full" ? showArguments(input, redact) : hashArguments(input);
    const facts = { time, trace: traceId, session: caller.id, caller: caller.id, action };
    log.appendSoon(() => ({ kind: "call", ...facts, decisions: [], code, duration: 0, ...shown }));
  };

/** Whole or not at all: half a secret would not be found any more. */
function toName({ tool, action }: Call): string {
  const name = `${tool}.${typeof action === "string" ? action : ""}`;
  return name.length <= MAX_NAME_CHARS ? name.toWellFormed() : `(a name of ${name.length} characters)`;
}
