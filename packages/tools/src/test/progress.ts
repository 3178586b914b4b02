import type { Context } from "@octant/core";
import type { Outcome, TestCase } from "./case.ts";
import type { Suite } from "./suites.ts";

/** Minimum interval between progress updates. */
const EVERY_MS = 100;
const MAX_LINE_CHARS = 500;

/** Reports each test as a line of the job's log, and the suite's progress. */
export function createProgress(
  ctx: Context,
  suite: Suite,
  onCounts: (counts: Readonly<Record<Outcome, number>>) => void,
) {
  const counts = { pass: 0, fail: 0, skip: 0 };
  let reportedAt = Number.NEGATIVE_INFINITY;
  const report = () => {
    const { pass, fail, skip } = counts;
    const message = `${suite.id}: ${pass} passed, ${fail} failed, ${skip} skipped`;
    ctx.progress({ progress: pass + fail + skip, message });
    onCounts({ ...counts });
  };
  return {
    test({ outcome, suite: outer, name, durationMs }: TestCase) {
      counts[outcome] += 1;
      const time = durationMs === undefined ? "" : ` (${Math.round(durationMs)} ms)`;
      const line = `${outcome} ${[...outer, name].join(" > ").slice(0, MAX_LINE_CHARS)}${time}`;
      ctx.emit({ kind: "log", line });
      const now = performance.now();
      if (now - reportedAt < EVERY_MS) return;
      reportedAt = now;
      report();
    },
    end: report,
  };
}
