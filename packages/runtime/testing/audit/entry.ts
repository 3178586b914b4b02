import type { CallEntry } from "../../src/audit/record.ts";

/** A call recorded as number `i`, later than any that a test creates now. */
export const entry = (i: number): CallEntry => ({
  kind: "call",
  time: new Date(Date.UTC(2100, 0, 1) + i).toISOString(),
  trace: "t",
  session: "s",
  caller: "me",
  action: `fs.read${i}`,
  decisions: [],
  code: "OK",
  duration: i,
  arguments_hash: "sha256:0",
});
