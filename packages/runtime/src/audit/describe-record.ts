import { counted } from "@octant/core";
import type { ChainRecord } from "./read.ts";

/** The facts of a record, its time first. A record of another version is described too. */
export function describeRecord(record: ChainRecord): string[] {
  const unreadable = [`${record.time}`, `unreadable: a record of another version (${record.kind})`];
  try {
    // At run time there may be kinds that the types do not have.
    return toFacts(record) ?? unreadable;
  } catch (cause) {
    if (cause instanceof TypeError) return unreadable;
    throw cause;
  }
}

function toFacts(record: ChainRecord): string[] {
  switch (record.kind) {
    case "call":
    case "job": {
      const { time, action, caller, code, duration } = record;
      const call = [time, action, code, `${duration} ms`, `by ${caller}`];
      if (record.kind === "job") return [...call, `end of ${record.job}`];
      const shown = record.decisions.map(({ step, outcome, rule, tier }) =>
        [step, outcome, rule && `[${rule}]`, tier && `(${tier})`].filter(Boolean).join(" "),
      );
      return [...call, ...shown, ...(record.job === undefined ? [] : [`continues as ${record.job}`])];
    }
    case "begin":
      return [record.time, record.action, "started and never answered", `by ${record.caller}`];
    case "dropped":
      return [record.time, `${counted(record.records, "old record")} dropped`];
    case "open":
      return [record.time, `process ${record.pid} started writing`];
    case "lost":
      return [
        record.time,
        `${counted(record.records, "record")} of read-only calls lost: the disk could not be written`,
      ];
  }
}
