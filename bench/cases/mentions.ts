import { createPathList, findPaths } from "@octant/app";
import type { Case } from "../case.ts";
import { toSpread } from "../measure.ts";
import { atMost, type Row } from "../row.ts";

const FILES = 100_000;
const SHOWN = 40;
const ROUNDS = 5;
const TYPED = ["s", "comp", "prtsrcfil", "file-99"];

export const mentions: readonly Case[] = [{ name: "mention: key in 100,000 files", run: key }];

/** The CPU time of the slowest of several keys after "@". */
async function key(): Promise<Row> {
  const files = Array.from(
    { length: FILES },
    (_, i) => `packages/part-${i % 300}/src/component/file-${i}.ts`,
  );
  const list = createPathList(files);
  const keys = TYPED.map((typed) =>
    Array.from({ length: ROUNDS }, () => {
      const before = process.cpuUsage();
      findPaths(list, typed, SHOWN);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    }),
  );
  return {
    name: "mention: key in 100,000 files",
    unit: "ms",
    octant: toSpread(keys.flat()),
    figure: Math.max(...keys.map((samples) => toSpread(samples).p50)),
    bar: atMost(50),
    note: "CPU time to find and rank paths by any letters, the slowest key",
  };
}
