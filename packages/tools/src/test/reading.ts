import type { ProcessInfo } from "@octant/host";
import { follow, growingFile } from "./following.ts";
import { createEventsParser } from "./parsers/events.ts";
import { createTapParser } from "./parsers/tap.ts";
import { readReports } from "./reports.ts";
import type { Runner, TestOptions } from "./runner.ts";
import { toEventsFile } from "./runners/node.ts";
import type { Suite } from "./suites.ts";
import type { Tally } from "./tally.ts";

/** Reads results as they come; `finish` reads the rest and returns whether the runner's report is complete. */
export function startReading(
  { workspace: { confinement, processes } }: TestOptions,
  { owner, proc_id, started_at }: ProcessInfo,
  suite: Suite,
  { reads }: Runner,
  tally: Tally,
  scratch: string,
): ReturnType<typeof follow> {
  const finishReports = () => readReports(confinement, suite.folder, started_at, tally);
  if (reads.from === "reports") return { stop: () => {}, finish: finishReports };
  if (reads.from === "events")
    return follow(growingFile(toEventsFile(scratch)), createEventsParser(tally), tally);
  const stdout = processes.output(owner, proc_id, "stdout");
  const createParser = reads.from === "stdout" ? reads.parser(suite) : createTapParser;
  const following = follow((offset, length) => stdout.read(offset, length), createParser(tally), tally);
  if (reads.from === "stdout") return following;
  return {
    stop: following.stop,
    async finish() {
      const complete = await following.finish();
      return complete ?? finishReports();
    },
  };
}
